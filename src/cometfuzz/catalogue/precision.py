"""Layer calls under a dtype policy of Keras 3: mixed precision, and inputs of other dtypes than the layer computes in.

A policy says in which dtype a layer computes and in which it keeps its weights. Inputs that are floats are cast to the
one (autocast), whatever they were; so a policy is also what tells the result of floats of several dtypes, and of
integers where a layer takes them as floats.
"""

from collections.abc import Sequence
from dataclasses import replace

from cometfuzz.catalogue.spec import LayerSpec
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import FLOATS, POLICIES, POLICY, TensorType

MIXED = ("mixed_float16", "mixed_bfloat16")
TRIES = 12
CHANGED, INTEGER = 0.6, 0.4
"""How often an input is drawn with a dtype of its own, and how often that is no float, where the layer takes those."""


def under_policy(
    spec: LayerSpec, types: Sequence[TensorType], params: Params, draw: Draw
) -> tuple[tuple[TensorType, ...], Params] | None:
    """A valid call under a drawn policy, mixed ones more often, on inputs of drawn dtypes; None if none was found.

    One that would compute what the plain call computes is none.
    """
    for _ in range(TRIES if spec.takes_policy else 0):
        policy = draw.choice((*MIXED, *MIXED, *FLOATS))
        compute = POLICIES[policy][0]
        kinds = tuple(_other(spec, kind, compute, draw) for kind in types)
        given = with_policy(spec, params, policy)
        plain = policy in FLOATS and all(kind.dtype == compute for kind in kinds if kind.is_float)
        if spec.accepts(kinds, given) and not (plain and kinds == tuple(types)):
            return kinds, given
    return None


def with_policy(spec: LayerSpec, params: Params, policy: str) -> Params:
    """The parameters of a call under a policy; a layer that names the dtype of its result names that of the policy."""
    own = {"dtype": POLICIES[policy][0]} if "dtype" in params else {}
    return spec.complete({**params, POLICY: policy, **own})


def _other(spec: LayerSpec, kind: TensorType, compute: str, draw: Draw) -> TensorType:
    """The type of an input with another dtype, perhaps; what carries a mask is a float."""
    if not kind.is_float:
        return kind
    if not draw.chance(CHANGED):
        return replace(kind, dtype=compute)
    if spec.as_floats and not kind.masked and draw.chance(INTEGER):
        dtype = draw.choice(spec.as_floats)
        return TensorType(dtype, kind.shape, high=draw.integer(1, 9) if dtype == "int32" else None)
    return replace(kind, dtype=draw.choice(FLOATS))
