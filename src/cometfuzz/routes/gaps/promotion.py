"""Gaps of Keras' own type promotion, which knows float64 on TensorFlow only.

keras.backend.result_type("float64", "float64") is "float32" on JAX and PyTorch, so an operation that asks it computes
in float32 and may even return float32 from a layer whose dtype is float64.
"""

from cometfuzz.routes.gaps import Gap
from cometfuzz.routes.gaps.initialising import first

GAPS: tuple[Gap, ...] = (
    Gap(
        routes=("keras-jax",),
        layers=(),
        when=lambda x, p: first(x).dtype == "float64" or p.get("dtype") == "float64",
        symptom="result",
        always=False,
        kind="bug",
        evidence="keras.ops.tanh(float64) is float32 on JAX even with jax_enable_x64",
    ),
    Gap(
        routes=("keras-torch",),
        layers=("Dense",),
        when=lambda x, p: x.dtype == "float64",
        symptom="result",
        always=False,
        kind="bug",
        evidence='keras#23704: Dense(2, use_bias=False, dtype="float64")(float64) is float32: matmul asks result_type',
    ),
)
