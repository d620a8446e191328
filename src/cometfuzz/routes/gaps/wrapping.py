"""Gaps of wrappers; those of the layers inside apply as well."""

from typing import Any

from cometfuzz.routes.gaps import KERAS3_ROUTES, Gap


def _zeroes_masked_steps(x: Any, p: Any) -> bool:
    return bool(x.masked and p.layer.params.return_sequences)


def _unrolled(p: Any) -> tuple[bool, bool]:
    """Whether the forward and the backward layer are unrolled."""
    backward = p.backward_layer or p.layer
    return p.layer.params.unroll, backward.params.unroll


def _unrolled_backwards(p: Any) -> bool:
    forward, backward = _unrolled(p)
    return forward if p.layer.params.go_backwards else backward


def _masked_softmax(x: Any, p: Any) -> bool:
    """Softmax receives the mask of the samples and holds it against its last axis, the features."""
    return bool(x.masked and x.rank == 3 and p.layer.layer == "Softmax")


GAPS: tuple[Gap, ...] = (
    Gap(
        routes=KERAS3_ROUTES,
        layers=("TimeDistributed",),
        when=lambda x, p: _masked_softmax(x, p) and x.shape[0] not in (1, x.shape[2]),
        raises="ValueError",
        kind="bug",
        evidence="TimeDistributed(Softmax()) behind Masking: The `mask` must be broadcastable to `inputs`",
    ),
    Gap(
        routes=KERAS3_ROUTES,
        layers=("TimeDistributed",),
        when=lambda x, p: _masked_softmax(x, p) and x.shape[0] in (1, x.shape[2]),
        symptom="value",
        always=False,
        kind="bug",
        evidence="TimeDistributed(Softmax()) behind Masking takes the mask of the samples for one of the features",
        witness=(0.0,),
    ),
    Gap(
        routes=("keras2-tf",),
        layers=("TimeDistributed",),
        when=_masked_softmax,
        symptom="any",
        always=False,
        kind="bug",
        evidence="as in Keras 3, with the samples of all steps: an exception, or a wrong value if the sizes agree",
    ),
    Gap(
        routes=KERAS3_ROUTES,
        layers=("Bidirectional",),
        when=lambda x, p: p.layer.params.return_state and p.layer.params.stateful,
        raises="TypeError",
        kind="bug",
        evidence="Bidirectional.compute_mask: unsupported operand type(s) for *: 'generator' and 'int'",
    ),
    Gap(
        routes=("keras-tf", "keras2-tf"),
        layers=("Bidirectional",),
        when=lambda x, p: _zeroes_masked_steps(x, p) and _unrolled_backwards(p),
        symptom="value",
        always=False,
        kind="bug",
        evidence="unrolled backwards, tensorflow/rnn.py zeroes outputs by the mask in forward order",
    ),
    Gap(
        routes=("keras-jax",),
        layers=("Bidirectional",),
        when=lambda x, p: _zeroes_masked_steps(x, p) and any(_unrolled(p)),
        symptom="value",
        always=False,
        kind="bug",
        evidence="jax/rnn.py ignores zero_output_for_mask when it unrolls",
    ),
)
