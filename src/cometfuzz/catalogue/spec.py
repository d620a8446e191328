"""LayerSpec: everything that cometfuzz knows of one layer, in one declarative block.

Validation, mutation, coverage, the reference, the builders, the reducer and the docs read it. In all functions of a
block, `x` is the input's TensorType (a tuple of them for layers that take several inputs) and `p` the Params.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cometfuzz.catalogue.spaces import RARE, Space
from cometfuzz.draw import Draw
from cometfuzz.errors import UnknownName
from cometfuzz.ir.graph import Inner, Params
from cometfuzz.ir.types import FLOATS, TensorType

Rule = Callable[[Any, Any], bool]
InnerCall = tuple[Inner, tuple[TensorType, ...]]
Shape = tuple[int, ...]
KERAS3, KERAS2 = "keras3", "keras2"


@dataclass(frozen=True)
class LayerSpec:
    """One catalogue entry. See `layer` for what the fields mean."""

    name: str
    ranks: tuple[int, ...]
    output_ranks: tuple[int, ...]
    dtypes: tuple[str, ...]
    params: Mapping[str, Space]
    rules: Mapping[str, Rule]
    shape: Callable[[Any, Any], Shape | list[Shape]]
    weights: Callable[[Any, Any], Mapping[str, Shape]]
    dtype: Callable[[Any, Any], str | list[str]]
    mask: Callable[[Any, Any], bool | list[bool]]
    high: Callable[[Any, Any], int | None]
    inputs: Callable[[Draw], tuple[TensorType, ...]]
    arity: tuple[int, int]
    call_params: tuple[str, ...]
    excluded: Mapping[str, str]
    libraries: tuple[str, ...]
    kind: str
    inner: Callable[[Any, Any], Sequence["InnerCall"]]
    builder: str = ""
    family: str = field(default="", compare=False)
    doc: str = ""

    @property
    def counted(self) -> bool:
        """Whether the layer counts in coverage: cells, utilities and the graph's inputs do not."""
        return self.kind == "layer"

    def view(self, types: Sequence[TensorType]) -> Any:
        """What the block's functions receive as `x`."""
        return types[0] if self.arity == (1, 1) else tuple(types)

    def complete(self, given: Mapping[str, Any]) -> Params:
        """All parameters: those given, in canonical form, and the simplest value for every other one."""
        values = {
            name: space.canonical(given[name]) if name in given else space.simplest
            for name, space in self.params.items()
        }
        for name in given:
            if name not in values:
                values[name] = given[name]
        for name, value in values.items():
            if isinstance(value, Inner) or (isinstance(value, tuple) and value and isinstance(value[0], Inner)):
                values[name] = _complete_inner(value)
        return Params(values)

    def broken_rules(self, types: Sequence[TensorType], params: Params) -> list[str]:
        """The names of the rules that do not hold."""
        x = self.view(types)
        return [name for name, rule in self.rules.items() if not rule(x, params)]

    def accepts(self, types: Sequence[TensorType], params: Params) -> bool:
        """Whether rank, dtype and all rules allow these inputs."""
        fits = types[0].rank in self.ranks and types[0].dtype in self.dtypes
        return fits and not self.broken_rules(types, params)

    def outputs(self, types: Sequence[TensorType], params: Params) -> tuple[TensorType, ...]:
        """The types of the outputs; only meaningful where all rules hold."""
        x = self.view(types)
        shapes = self.shape(x, params)
        if not isinstance(shapes, list):
            shapes = [shapes]
        dtypes, masks = self.dtype(x, params), self.mask(x, params)
        if not isinstance(dtypes, list):
            dtypes = [dtypes] * len(shapes)
        if not isinstance(masks, list):
            masks = [masks] + [False] * (len(shapes) - 1)
        high = self.high(x, params)
        return tuple(TensorType(d, s, m, high) for d, s, m in zip(dtypes, shapes, masks, strict=True))

    def draw_params(
        self, draw: Draw, types: Sequence[TensorType], fixed: Mapping[str, Any] | None = None, tries: int = 40
    ) -> Params | None:
        """Parameters that satisfy all rules for these inputs, `fixed` ones as given; None if there seem to be none.

        The longer it takes, the more parameters fall back to their simplest value.
        """
        x, fixed = self.view(types), fixed or {}
        for attempt in range(tries):
            plain = attempt / tries
            values: dict[str, Any] = {}
            drawn = Params.over(values)
            for name, space in self.params.items():
                if name in fixed:
                    values[name] = fixed[name]
                elif attempt and draw.chance(plain):
                    values[name] = space.simplest
                else:
                    values[name] = space.draw(draw, x, drawn)
            params = self.complete(values)
            if not self.broken_rules(types, params):
                return params
        return None


def _complete_inner(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_complete_inner(item) for item in value)
    if isinstance(value, Inner) and value.layer in CATALOGUE:
        return replace(value, params=CATALOGUE[value.layer].complete(value.params))
    return value


CATALOGUE: dict[str, LayerSpec] = {}
"""All specs by name, filled by `layer`; import it from `cometfuzz.catalogue`, where every family is loaded."""


def spec_of(name: str) -> LayerSpec:
    try:
        return CATALOGUE[name]
    except KeyError:
        raise UnknownName(f"expected the name of a layer in the catalogue; received layer={name!r}") from None


def draw_shape(draw: Draw, rank: int, low: int = 1, high: int = 8) -> Shape:
    """A small shape with batch; a zero-size dimension with small probability."""
    high = high if rank < 5 else max(low, high - 2)
    shape = [draw.integer(1, 3), *(draw.integer(low, high) for _ in range(rank - 1))]
    if draw.chance(RARE):
        shape[draw.integer(0, rank - 1)] = 0
    return tuple(shape)


def draw_dtype(draw: Draw, dtypes: Sequence[str]) -> str:
    """A dtype; float64, which few models use and some backends narrow on their own, half as often as the others."""
    return draw.choice([dtype for dtype in dtypes for _ in range(1 if dtype == "float64" else 2)])


def one_input(ranks: Sequence[int], dtypes: Sequence[str]) -> Callable[[Draw], tuple[TensorType, ...]]:
    """Draws the input of a layer that takes one tensor of any small shape; integers have a small bound."""

    def draw_input(draw: Draw) -> tuple[TensorType, ...]:
        dtype, shape = draw_dtype(draw, dtypes), draw_shape(draw, draw.choice(ranks))
        return (TensorType(dtype, shape, high=draw.integer(1, 9) if dtype == "int32" else None),)

    return draw_input


def layer(
    name: str,
    *,
    ranks: Sequence[int],
    shape: Callable[[Any, Any], Shape | list[Shape]],
    dtypes: Sequence[str] = FLOATS,
    params: Mapping[str, Space] | None = None,
    rules: Mapping[str, Rule] | None = None,
    weights: Callable[[Any, Any], Mapping[str, Shape]] = lambda x, p: {},
    output_ranks: Sequence[int] | None = None,
    dtype: Callable[[Any, Any], str | list[str]] | None = None,
    mask: Callable[[Any, Any], bool | list[bool]] = lambda x, p: False,
    high: Callable[[Any, Any], int | None] = lambda x, p: None,
    inputs: Callable[[Draw], tuple[TensorType, ...]] | None = None,
    arity: tuple[int, int] = (1, 1),
    call_params: Sequence[str] = (),
    excluded: Mapping[str, str] | None = None,
    libraries: Sequence[str] = (KERAS3, KERAS2),
    kind: str = "layer",
    inner: Callable[[Any, Any], Sequence[InnerCall]] | None = None,
    builder: str = "",
    doc: str = "",
) -> LayerSpec:
    """Declare a layer.

    ranks, dtypes: what the first input may be, with batch. `output_ranks`: what may come out (default: as in).
    rules: name -> predicate on (x, p); all must hold. They may assume that ranks, dtypes and value spaces hold.
    shape: the output's shape, or a list of shapes for several outputs. dtype: default, the first input's.
    weights: name -> shape, in the order of Keras' `layer.weights`.
    mask: whether a mask travels on (a list: for each output). high: the bound of an int output.
    inputs: draws input types; only needed where one tensor of any small shape will not do.
    arity: least and greatest number of inputs. call_params: parameters given to `call`, not to the constructor.
    excluded: parameters of the public signature that are left out, each with the reason.
    inner: for wrappers, the layers inside with the types of their inputs; each must accept them.
    builder: "module:function" for a layer that is not in keras.layers: given the package keras, its class. It is called
    in a child, so the module must not import Keras by itself.
    """
    if name in CATALOGUE:
        raise ValueError(f"expected one block per layer; received name={name!r} twice")
    if any(parameter.endswith("_initializer") for parameter in params or ()):
        rules = {**(rules or {}), "initialisers fit their weights": _initialisers_fit(weights)}
    if inner is not None:
        rules = {INNER_ACCEPTS: _inner_accepts(inner), **(rules or {})}
    spec = LayerSpec(
        name=name,
        ranks=tuple(ranks),
        output_ranks=tuple(ranks if output_ranks is None else output_ranks),
        dtypes=tuple(dtypes),
        params=dict(params or {}),
        rules=dict(rules or {}),
        shape=shape,
        weights=weights,
        dtype=dtype or (_first_dtype if arity == (1, 1) else _first_dtype_of_many),
        mask=mask,
        high=high,
        inputs=inputs or one_input(ranks, dtypes),
        arity=arity,
        call_params=tuple(call_params),
        excluded=dict(excluded or {}),
        libraries=tuple(libraries),
        kind=kind,
        inner=inner or _nothing_inside,
        builder=builder,
        doc=doc,
    )
    CATALOGUE[name] = spec
    return spec


def _initialisers_fit(weights: Callable[[Any, Any], Mapping[str, Shape]]) -> Rule:
    """Documented limits: Identity makes matrices only, Orthogonal needs at least two axes and no empty one."""

    def fit(x: Any, p: Params) -> bool:
        special = [
            (name.removesuffix("_initializer"), value)
            for name, value in p.items()
            if value in ("Identity", "Orthogonal") and name.endswith("_initializer")
        ]
        if not special:
            return True
        shapes = weights(x, p)
        for prefix, value in special:
            for name, shape in shapes.items():
                if name.startswith(prefix):
                    matrix = len(shape) == 2 if value == "Identity" else len(shape) >= 2
                    if not matrix or 0 in shape:
                        return False
        return True

    return fit


INNER_ACCEPTS = "inner layer accepts its input"


def _inner_accepts(inner: Callable[[Any, Any], Sequence[InnerCall]]) -> Rule:
    return lambda x, p: all(spec_of(call.layer).accepts(types, call.params) for call, types in inner(x, p))


def _nothing_inside(x: Any, p: Params) -> Sequence[InnerCall]:
    return ()


def _first_dtype(x: TensorType, p: Params) -> str:
    return x.dtype


def _first_dtype_of_many(x: tuple[TensorType, ...], p: Params) -> str:
    return x[0].dtype
