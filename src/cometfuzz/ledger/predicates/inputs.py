"""Conditions on the inputs of any layer: dtypes, sizes, masks; and on what all layers may name."""

from collections.abc import Iterator
from typing import Any

from cometfuzz.catalogue.shapes import channels, spatial
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import POLICIES, POLICY
from cometfuzz.ledger.predicates import predicate

_SWITCHES = {"bias": ("use_bias", "bias_axes"), "gamma": ("scale",), "beta": ("center",)}
"""Weights that a layer only has if a parameter says so."""


def all_of(x: Any) -> tuple[Any, ...]:
    """The types of a layer's inputs, however many it has."""
    return x if isinstance(x, tuple) else (x,)


def weight_dtype(x: Any, p: Params) -> str:
    """The dtype of a layer's weights."""
    return POLICIES[p[POLICY]][1] if POLICY in p else str(p.get("dtype") or all_of(x)[0].dtype)


def dtypes(x: Any, p: Params) -> set[str]:
    """The dtypes of a layer's inputs and of its weights."""
    return {kind.dtype for kind in all_of(x)} | {weight_dtype(x, p)}


def activations(p: Params) -> Iterator[str | None]:
    """The activations that a layer names; what a wrapper holds is judged by itself."""
    return (p[name] for name in ("activation", "recurrent_activation") if name in p)


def initialisers(p: Params) -> list[str]:
    """The initialisers that really run when a layer is built; what a wrapper holds is judged by itself."""
    return [
        value
        for name, value in p.items()
        if name.endswith("_initializer")
        and all(p.get(switch, True) for switch in _SWITCHES.get(name.removesuffix("_initializer"), ()))
    ]


@predicate
def float32_input(x: Any, p: Params) -> bool:
    """The first input is float32."""
    return bool(all_of(x)[0].dtype == "float32")


@predicate
def float64_input_or_layer(x: Any, p: Params) -> bool:
    """The first input is float64, or the layer is told to compute in it."""
    return "float64" in (all_of(x)[0].dtype, p.get("dtype"))


@predicate
def empty(x: Any, p: Params) -> bool:
    """An input has no elements."""
    return any(kind.elements == 0 for kind in all_of(x))


@predicate
def empty_batch(x: Any, p: Params) -> bool:
    """The batch has no samples."""
    return bool(all_of(x)[0].shape[0] == 0)


@predicate
def empty_samples(x: Any, p: Params) -> bool:
    """The samples have no elements: some axis but the batch has the size 0."""
    return 0 in all_of(x)[0].shape[1:]


@predicate
def no_places(x: Any, p: Params) -> bool:
    """A spatial axis has the size 0."""
    return 0 in spatial(x, p)


@predicate
def no_steps(x: Any, p: Params) -> bool:
    """The first axis behind the batch has the size 0."""
    return bool(x.shape[1] == 0)


@predicate
def no_features(x: Any, p: Params) -> bool:
    """The last axis has the size 0."""
    return bool(x.shape[-1] == 0)


@predicate
def no_channels(x: Any, p: Params) -> bool:
    """The images have no channels."""
    return channels(x, p) == 0


@predicate
def axis_of_one(x: Any, p: Params) -> bool:
    """Some axis has the size 1."""
    return 1 in x.shape


@predicate
def rank_above_5(x: Any, p: Params) -> bool:
    """More than five axes, the batch included."""
    return bool(all_of(x)[0].rank > 5)


@predicate
def rank_5(x: Any, p: Params) -> bool:
    """Five axes, the batch included."""
    return bool(all_of(x)[0].rank == 5)


@predicate
def rank_below_3(x: Any, p: Params) -> bool:
    """At most the batch and one more axis."""
    return bool(all_of(x)[0].rank < 3)


@predicate
def masked(x: Any, p: Params) -> bool:
    """A Keras mask comes with an input."""
    return any(kind.masked for kind in all_of(x))
