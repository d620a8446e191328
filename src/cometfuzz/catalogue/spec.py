"""LayerSpec: everything that cometfuzz knows of one layer, in one declarative block.

Validation, mutation, coverage, the reference, the builders, the reducer and the docs read it. In all functions of a
block, `x` is the input's TensorType (a tuple of them for layers that take several inputs) and `p` the Params.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from cometfuzz.catalogue.spaces import RARE, WIDE, Space
from cometfuzz.draw import Draw
from cometfuzz.errors import UnknownName
from cometfuzz.ir.graph import Inner, Params
from cometfuzz.ir.types import FLOATS, POLICIES, POLICY, TensorType

Rule = Callable[[Any, Any], bool]


@dataclass(frozen=True)
class Ours:
    """A rule of ours alone: it makes things simple for us, or some library lacks what it excludes. One that does more
    does nothing wrong, so nobody is asked to refuse what breaks it."""

    holds: Rule

    def __call__(self, x: Any, p: Any) -> bool:
        return self.holds(x, p)


@dataclass(frozen=True)
class Waived(Ours):
    """A rule that some libraries say they do not insist on: they need not refuse what breaks it, all others should."""

    by: tuple[str, ...] = ()


InnerCall = tuple[Inner, tuple[TensorType, ...]]
Shape = tuple[int, ...]
KERAS3, KERAS2 = "keras3", "keras2"
LAYER, OPERATOR = "layer", "operator"

Autocast = Literal["all", "inputs", "nothing"]
"""What a layer of Keras 3 casts to the dtype of its policy before it computes: inputs and weights, or less. Its result
has that dtype in any case."""

HALF = ("float16", "bfloat16")
NO_FLOATS = ("int32", "bool")


@dataclass(frozen=True)
class Begun(TensorType):
    """The input of a call that has initial states, with their types: what its block sees as `x`."""

    states: tuple[TensorType, ...] = ()


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
    identity: bool = False
    formula: Callable[..., Any] | None = None
    step: Callable[..., Any] | None = None
    autocast: Autocast | None = "all"
    as_floats: tuple[str, ...] = ()
    states: Callable[[Any, Any], Sequence[Shape]] | None = None
    together: tuple[tuple[str, str], ...] = ()
    family: str = field(default="", compare=False)
    doc: str = ""

    @property
    def counted(self) -> bool:
        """Whether it counts in coverage: layers and operators do, cells, utilities and the graph's inputs do not."""
        return self.kind in (LAYER, OPERATOR)

    @property
    def takes_policy(self) -> bool:
        """Whether a dtype policy means something: it is a layer of Keras 3 that computes in floats."""
        floats = "dtype" in self.params or any(dtype in FLOATS for dtype in self.dtypes)
        return floats and self.kind == "layer" and KERAS3 in self.libraries and self.autocast is not None

    def view(self, types: Sequence[TensorType], params: Mapping[str, Any] | None = None) -> Any:
        """What the block's functions receive as `x`; with `params`, as their policy has it."""
        if params is not None and POLICY in params:
            types = self.cast(types, params)
        if self.arity != (1, 1):
            return tuple(types)
        first, *states = types
        return Begun(first.dtype, first.shape, first.masked, first.high, tuple(states)) if states else first

    def cast(self, types: Sequence[TensorType], params: Mapping[str, Any]) -> Sequence[TensorType]:
        """The types that a layer computes on: a policy casts floats, and integers where the layer takes them so."""
        if POLICY not in params or self.autocast == "nothing":
            return types
        dtype, taken = POLICIES[params[POLICY]][0], (*FLOATS, *self.as_floats)
        return tuple(replace(kind, dtype=dtype, high=None) if kind.dtype in taken else kind for kind in types)

    def complete(self, given: Mapping[str, Any]) -> Params:
        """All parameters: those given, in canonical form, and the simplest value for every other one."""
        simplest, changing = self._forms
        values = simplest.copy()
        values.update(given.items())
        for name, canonical in changing:
            if name in given:
                values[name] = canonical(values[name])
        if values.get(POLICY, ...) is None:
            del values[POLICY]
        for name, value in values.items():
            kind = type(value)
            if kind is Inner or (kind is tuple and value and type(value[0]) is Inner):
                values[name] = _complete_inner(value)
        return Params(values)

    @cached_property
    def _forms(self) -> tuple[dict[str, Any], tuple[tuple[str, Callable[[Any], Any]], ...]]:
        """The simplest values, and how those are brought into form that may have another one."""
        changing = [(name, each) for name, each in self.params.items() if type(each).canonical is not Space.canonical]
        simplest = {name: space.simplest for name, space in self.params.items()}
        return simplest, tuple((name, space.canonical) for name, space in changing)

    @cached_property
    def plain(self) -> Params:
        """The simplest value of every parameter."""
        return self.complete({})

    def broken_rules(self, types: Sequence[TensorType], params: Params) -> list[str]:
        """The names of the rules that do not hold."""
        x = self.view(types, params)
        broken = [name for name, rule in self.rules.items() if not rule(x, params)]
        if len(types) > 1 and self.states is not None:
            broken += self._broken_by_states(types, params)
        return broken + self._broken_by_policy(types, params) if POLICY in params else broken

    def _broken_by_states(self, types: Sequence[TensorType], params: Params) -> list[str]:
        """What stands against initial states: a layer gets all that it has, as it computes with them, or none."""
        first, *given = self.cast(types, params)
        wanted = [TensorType(first.dtype, shape) for shape in self.given_states(types, params)]
        broken = {
            "initial states are those of the layer": given != wanted,
            "initial states are all that it begins with": bool(params.get("stateful")),
        }
        return [name for name, breaks in broken.items() if breaks]

    def given_states(self, types: Sequence[TensorType], params: Params) -> Sequence[Shape]:
        """The shapes of the states that a call may begin with, as further inputs; none if it cannot."""
        return () if self.states is None else self.states(self.view(types[:1], params), params)

    def _broken_by_policy(self, types: Sequence[TensorType], params: Params) -> list[str]:
        compute, first = POLICIES[params[POLICY]][0], self.cast(types, params)[0]
        counting = "dtype" not in params and not any(kind.is_float for kind in types)
        counting &= self.arity != (1, 1) or not first.is_float
        broken = {
            "the layer takes a policy": not self.takes_policy,
            "the policy's dtype is the layer's": params.get("dtype", compute) != compute,
            "of integers alone it makes integers": counting,
            "no double rounding": compute in HALF and any(kind.dtype == "float64" for kind in types),
        }
        return [name for name, breaks in broken.items() if breaks]

    def accepts(self, types: Sequence[TensorType], params: Params) -> bool:
        """Whether rank, dtype and all rules allow these inputs."""
        return self.fits(types, params) and not self.broken_rules(types, params)

    def fits(self, types: Sequence[TensorType], params: Params) -> bool:
        """Whether rank and dtype allow these inputs; what `draw_params` gives for them keeps all rules."""
        return types[0].rank in self.ranks and self.cast(types, params)[0].dtype in self.dtypes

    def outputs(self, types: Sequence[TensorType], params: Params) -> tuple[TensorType, ...]:
        """The types of the outputs; only meaningful where all rules hold."""
        x = self.view(types, params)
        shapes = self.shape(x, params)
        if not isinstance(shapes, list):
            shapes = [shapes]
        dtypes, masks = self.dtype(x, params), self.mask(x, params)
        if not isinstance(dtypes, list):
            dtypes = [dtypes] * len(shapes)
        if not isinstance(masks, list):
            masks = [masks] + [False] * (len(shapes) - 1)
        if POLICY in params:
            dtypes = [POLICIES[params[POLICY]][0] if dtype in FLOATS else dtype for dtype in dtypes]
        high = self.high(x, params)
        return tuple(
            TensorType(dtype, shape, masked, high if dtype == "int32" else None)
            for dtype, shape, masked in zip(dtypes, shapes, masks, strict=True)
        )

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
    """A small shape with batch; a zero-size dimension with small probability.

    Where sizes are wide, the last one, which mostly has the channels, is one that matters, and others are up to 33.
    """
    if draw.wide and high >= 5 and rank > 1:
        places = (draw.integer(1, 33 if rank < 5 else 9) for _ in range(rank - 2))
        return (draw.integer(1, 2), *places, draw.choice(WIDE))
    high = high if rank < 5 else max(low, high - 2)
    shape = [draw.integer(1, 3), *(draw.integer(low, high) for _ in range(rank - 1))]
    if draw.chance(RARE):
        shape[draw.integer(0, rank - 1)] = 0
    return tuple(shape)


def draw_dtype(draw: Draw, dtypes: Sequence[str]) -> str:
    """A dtype; float64, which few models use and some backends narrow on their own, half as often as the others."""
    return draw.choice([dtype for dtype in dtypes for _ in range(1 if dtype == "float64" else 2)])


def one_input(
    ranks: Sequence[int], dtypes: Sequence[str], choose: Callable[[Draw, Sequence[str]], str] = draw_dtype
) -> Callable[[Draw], tuple[TensorType, ...]]:
    """Draws the input of a layer that takes one tensor of any small shape; integers have a small bound."""

    def draw_input(draw: Draw) -> tuple[TensorType, ...]:
        dtype, shape = choose(draw, dtypes), draw_shape(draw, draw.choice(ranks))
        return (TensorType(dtype, shape, high=draw.integer(1, 9) if dtype == "int32" else None),)

    return draw_input


def unbounded(x: Any, p: Any) -> None:
    """The bound of integers of which nobody knows how large they are."""


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
    high: Callable[[Any, Any], int | None] = unbounded,
    inputs: Callable[[Draw], tuple[TensorType, ...]] | None = None,
    arity: tuple[int, int] = (1, 1),
    call_params: Sequence[str] = (),
    excluded: Mapping[str, str] | None = None,
    libraries: Sequence[str] = (KERAS3, KERAS2),
    kind: str = LAYER,
    inner: Callable[[Any, Any], Sequence[InnerCall]] | None = None,
    builder: str = "",
    identity: bool = False,
    formula: Callable[..., Any] | None = None,
    step: Callable[..., Any] | None = None,
    autocast: Autocast | None = "all",
    as_floats: Sequence[str] = (),
    states: Callable[[Any, Any], Sequence[Shape]] | None = None,
    together: Sequence[tuple[str, str]] = (),
    doc: str = "",
) -> LayerSpec:
    """Declare a layer.

    ranks, dtypes: what the first input may be, with batch. `output_ranks`: what may come out (default: as in).
    rules: name -> predicate on (x, p); all must hold. They may assume that ranks, dtypes and value spaces hold. What is
    not `Ours` is broken now and then, to see whether libraries refuse it.
    shape: the output's shape, or a list of shapes for several outputs. dtype: default, the first input's.
    weights: name -> shape, in the order of Keras' `layer.weights`.
    mask: whether a mask travels on (a list: for each output). high: the bound of an int output.
    inputs: draws input types; only needed where one tensor of any small shape will not do.
    arity: least and greatest number of inputs. call_params: parameters given to `call`, not to the constructor.
    excluded: parameters of the public signature that are left out, each with the reason.
    inner: for wrappers, the layers inside with the types of their inputs; each must accept them.
    builder: "module:function" for a layer that is not in keras.layers: given the package keras, its class. It is called
    in a child, so the module must not import Keras by itself.
    identity: in inference the layer hands its input on; what it does shows in training only.
    formula: the meaning, where it is a function of arrays (and of parameters, by name) that NumPy has or a line says;
    any other is in `reference/`. step: of the same arrays and parameters, how far each element is from a place where
    the result jumps.
    autocast: what a dtype policy of Keras 3 casts; None if the layer has no policy of its own.
    as_floats: dtypes of inputs that the layer takes, under a policy, as numbers of the dtype in which it computes.
    states: the shapes of the states with which the layer begins. A call may have them as inputs behind the first one,
    all or none: then they are its initial states. `x` is the first input's type all the same.
    together: parameters of which some releases take only one at a time, the other having its simplest value; they are
    asked whether they take both.
    """
    if name in CATALOGUE:
        raise ValueError(f"expected one block per layer; received name={name!r} twice")
    if any(parameter.endswith("_initializer") for parameter in params or ()):
        rules = {**(rules or {}), "initialisers fit their weights": _initialisers_fit(weights, params or ())}
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
        identity=identity,
        formula=formula,
        step=step,
        autocast=autocast,
        as_floats=tuple(as_floats),
        states=states,
        together=tuple(together),
        doc=doc,
    )
    CATALOGUE[name] = spec
    return spec


def _initialisers_fit(weights: Callable[[Any, Any], Mapping[str, Shape]], params: Iterable[str]) -> Rule:
    """Documented limits: Identity makes matrices only, Orthogonal needs at least two axes and no empty one."""
    ending = "_initializer"
    named = tuple((name, name.removesuffix(ending)) for name in params if name.endswith(ending))

    def fit(x: Any, p: Params) -> bool:
        special = [(weight, p[name]) for name, weight in named if p.get(name) in ("Identity", "Orthogonal")]
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
