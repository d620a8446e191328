"""Gaps of attention layers."""

from typing import Any

from cometfuzz.ir.graph import Params
from cometfuzz.routes.gaps import Gap

KERAS3_ROUTES = ("keras-tf", "keras-torch", "keras-jax")


def _misstates_scores(x: Any, p: Params) -> bool:
    """Keras takes the scores' shape for (batch, heads, queries, queries)."""
    return bool(p.return_attention_scores) and (x[0].rank != 3 or x[0].shape[1] != x[1].shape[1])


def _fused(x: Any, p: Params) -> bool:
    """Whether Keras takes the way through its fused operation."""
    return p.dropout == 0 and not p.return_attention_scores and x[0].rank == 3


def _may_leave_a_query_alone(x: Any, p: Params) -> bool:
    """Whether masks may leave a query without a key on the way through Keras' fused operation."""
    beyond = p.sliding_window is not None and x[0].shape[1] - x[1].shape[1] >= p.sliding_window
    return _fused(x, p) and (p.attention_mask or beyond or any(kind.masked for kind in x))


GAPS: tuple[Gap, ...] = (
    Gap(
        routes=KERAS3_ROUTES,
        layers=("MultiHeadAttention",),
        when=_misstates_scores,
        raises="StaticTypeMismatch",
        kind="bug",
        evidence="MultiHeadAttention(4, 5)(x[2, 3, 6], y[2, 4, 6], return_attention_scores=True) states scores [2, 4, 3, 3]",
    ),
    Gap(
        routes=KERAS3_ROUTES,
        layers=("MultiHeadAttention", "GroupQueryAttention"),
        when=_may_leave_a_query_alone,
        symptom="value",
        always=False,
        kind="bug",
        evidence="A query that may attend to no key gets 0 with return_attention_scores=True, the mean of all without",
    ),
    Gap(
        routes=("keras-torch",),
        layers=("Attention", "AdditiveAttention"),
        when=lambda x, p: x[0].dtype == "float64",
        symptom="result",
        always=False,
        kind="bug",
        evidence="keras.ops.matmul(float64, float64) is float32 on PyTorch: it asks result_type",
    ),
    Gap(
        routes=("keras-torch",),
        layers=("MultiHeadAttention", "GroupQueryAttention"),
        when=lambda x, p: x[0].dtype == "float64" and _fused(x, p),
        symptom="result",
        always=False,
        kind="bug",
        evidence="keras.ops.dot_product_attention makes float32 of float64 on PyTorch: it asks result_type",
    ),
)
