"""Conditions on wrappers."""

from typing import Any

from cometfuzz.ir.graph import Params
from cometfuzz.ledger.predicates import predicate


@predicate
def masked_softmax_inside(x: Any, p: Params) -> bool:
    """Softmax in TimeDistributed gets the mask of the samples and holds it against its last axis, the features."""
    return bool(x.masked and x.rank == 3 and p.layer.layer == "Softmax")


@predicate
def samples_fit_features(x: Any, p: Params) -> bool:
    """There is one sample, or as many as features."""
    return x.shape[0] in (1, x.shape[2])


@predicate
def inner_is_stateful_and_returns_state(x: Any, p: Params) -> bool:
    """The wrapped layer keeps its state, and returns it."""
    return bool(p.layer.params.return_state and p.layer.params.stateful)


@predicate
def zeroes_masked_steps(x: Any, p: Params) -> bool:
    """Bidirectional over masked steps that returns sequences: masked outputs are to be zero."""
    return bool(x.masked and p.layer.params.return_sequences)


def _unrolled(p: Params) -> tuple[bool, bool]:
    """Whether the forward and the backward layer are unrolled."""
    backward = p.backward_layer or p.layer
    return p.layer.params.unroll, backward.params.unroll


@predicate
def unrolled_either_way(x: Any, p: Params) -> bool:
    """The forward or the backward layer of Bidirectional is unrolled."""
    return any(_unrolled(p))


@predicate
def unrolled_backwards(x: Any, p: Params) -> bool:
    """The layer of Bidirectional that goes backwards is unrolled."""
    forward, backward = _unrolled(p)
    return forward if p.layer.params.go_backwards else backward
