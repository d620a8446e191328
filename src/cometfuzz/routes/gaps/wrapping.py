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


def _mask_taken_for_features(routes: tuple[str, ...]) -> tuple[Gap, Gap]:
    """Softmax receives the mask of the samples and holds it against its last axis, the features.

    In Keras 3 the samples are those of one step, in Keras 2 those of all steps.
    """
    folds = routes == ("keras2-tf",)

    def concerned(x: Any, p: Any) -> bool:
        return bool(x.masked and x.rank == 3 and p.layer.layer == "Softmax")

    def fits(x: Any) -> bool:
        return (x.shape[0] * x.shape[1] if folds else x.shape[0]) in (1, x.shape[2])

    return (
        Gap(
            routes=routes,
            layers=("TimeDistributed",),
            when=lambda x, p: concerned(x, p) and not fits(x),
            raises="Exception" if folds else "ValueError",
            kind="bug",
            evidence="TimeDistributed(Softmax()) behind Masking: The `mask` must be broadcastable to `inputs`",
        ),
        Gap(
            routes=routes,
            layers=("TimeDistributed",),
            when=lambda x, p: concerned(x, p) and fits(x),
            symptom="value",
            always=False,
            kind="bug",
            evidence="TimeDistributed(Softmax()) behind Masking takes the mask of the samples for one of the features",
            witness=(0.0,),
        ),
    )


GAPS: tuple[Gap, ...] = (
    *(gap for routes in (KERAS3_ROUTES, ("keras2-tf",)) for gap in _mask_taken_for_features(routes)),
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
