"""Gaps of attention layers."""

from typing import Any

from cometfuzz.catalogue.attention import attention_axes, sequences
from cometfuzz.ir.graph import Params
from cometfuzz.routes.gaps import KERAS3_ROUTES, Gap
from cometfuzz.routes.gaps.merging import adds_along_another_axis

HEADS = ("MultiHeadAttention", "GroupQueryAttention")


def _biases_go_astray(x: Any, p: Params) -> bool:
    """Whether Keras on TensorFlow adds the bias of a projection along a wrong axis."""
    if not p.use_bias:
        return False
    query, value, key = sequences(x)
    heads = p.num_heads if "num_heads" in p else p.num_query_heads
    key_heads = heads if "num_heads" in p else p.num_key_value_heads
    size = _head_size(p)
    value_size = p.get("value_dim") or size
    additions = [
        (query, (heads, size)),
        (key, (key_heads, size)),
        (value, (key_heads, value_size)),
        (query, p.get("output_shape") or query.shape[-1:]),
        *([(query, (heads, value_size))] if p.use_gate else []),
    ]
    return any(adds_along_another_axis((*kind.shape[:-1], *bias), bias) for kind, bias in additions)


def _head_size(p: Params) -> int:
    return int(p.key_dim if "key_dim" in p else p.head_dim)


def _misstates_scores(x: Any, p: Params) -> bool:
    """Keras takes the scores' shape for (batch, heads, queries, queries)."""
    return bool(p.return_attention_scores) and (x[0].rank != 3 or x[0].shape[1] != x[1].shape[1])


def _fused(x: Any, p: Params) -> bool:
    """Whether Keras takes the way through its fused operation."""
    return p.dropout == 0 and not p.return_attention_scores and x[0].rank == 3


def _fuses_two_sizes(x: Any, p: Params) -> bool:
    """Whether the heads of keys and values have different sizes in the fused operation, where JAX wants one."""
    return _fused(x, p) and p.value_dim not in (None, p.key_dim)


def _may_leave_a_query_alone(x: Any, p: Params) -> bool:
    """Whether masks may leave a query without a key on the way through Keras' fused operation."""
    beyond = p.sliding_window is not None and x[0].shape[1] - x[1].shape[1] >= p.sliding_window
    return _fused(x, p) and bool(p.attention_mask or beyond or any(kind.masked for kind in x))


GAPS: tuple[Gap, ...] = (
    Gap(
        routes=KERAS3_ROUTES,
        layers=("MultiHeadAttention",),
        when=_misstates_scores,
        raises="StaticTypeMismatch",
        kind="bug",
        evidence="return_attention_scores=True on query[2, 3, 6], value[2, 4, 6] states scores [2, heads, 3, 3]",
    ),
    Gap(
        routes=KERAS3_ROUTES,
        layers=HEADS,
        when=_may_leave_a_query_alone,
        symptom="value",
        always=False,
        kind="bug",
        evidence="A query that may attend to no key gets 0 with return_attention_scores=True, the mean of all without",
    ),
    Gap(
        routes=("keras-tf",),
        layers=HEADS,
        when=_biases_go_astray,
        symptom="value",
        always=False,
        kind="bug",
        evidence="keras.ops.add(x[1, 5, 5, 1], bias[5, 1]) adds along axis 1, not 2",
    ),
    Gap(
        routes=("keras-tf",),
        layers=HEADS,
        when=lambda x, p: x[0].dtype == "float64" and _head_size(p) not in (1, 4, 16, 64),
        symptom="value",
        always=False,
        kind="bug",
        evidence='keras.ops.cast(1 / 3**0.5, "float64") on TensorFlow is rounded to float32 first',
    ),
    Gap(
        routes=("keras-tf",),
        layers=("MultiHeadAttention",),
        when=lambda x, p: x[0].rank == 5 and len(attention_axes(x, p)) == 1 and x[0].dtype in ("float32", "bfloat16"),
        raises="AbortedError",
        kind="bug",
        evidence="oneDNN's softmax in TensorFlow: Input dims must be <= 5 and >=1",
    ),
    *(
        Gap(
            routes=("keras-jax",),
            layers=("MultiHeadAttention",),
            when=when,
            raises=raises,
            kind="bug",
            evidence="value_dim=2, key_dim=6: cannot reshape array of shape (1, 2, 2, 1, 2) into shape (1, 2, 2, 6)",
        )
        for when, raises in (
            (lambda x, p: _fuses_two_sizes(x, p) and 0 not in x[0].shape[:2], "TypeError"),
            (lambda x, p: _fuses_two_sizes(x, p) and 0 in x[0].shape[:2], "Exception"),
        )
    ),
    Gap(
        routes=("keras-jax",),
        layers=HEADS,
        when=lambda x, p: x[0].dtype == "float16" and _fused(x, p),
        raises="ValueError",
        evidence="The precision 'F16_F16_F32' is not supported by dot_general on CPU",
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
        layers=HEADS,
        when=lambda x, p: x[0].dtype == "float64" and _fused(x, p),
        symptom="result",
        always=False,
        kind="bug",
        evidence="keras.ops.dot_product_attention makes float32 of float64 on PyTorch: it asks result_type",
    ),
)
