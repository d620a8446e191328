"""Gaps of initialisers, which any layer with weights may name."""

from typing import Any

from cometfuzz.ir.graph import Params
from cometfuzz.routes.gaps import Gap

_SWITCHES = {"bias": ("use_bias", "bias_axes"), "gamma": ("scale",), "beta": ("center",)}
"""Weights that a layer only has if a parameter says so."""


def initialisers(p: Params) -> list[str]:
    """The initialisers that really run when a layer is built; what a wrapper holds is judged by itself."""
    return [
        value
        for name, value in p.items()
        if name.endswith("_initializer")
        and all(p.get(switch, True) for switch in _SWITCHES.get(name.removesuffix("_initializer"), ()))
    ]


def first(x: Any) -> Any:
    """The type of a layer's first input, however many it has."""
    return x[0] if isinstance(x, tuple) else x


def compute_dtype(x: Any, p: Params) -> str:
    """The dtype of a layer's weights."""
    return str(p.get("dtype") or first(x).dtype)


GAPS: tuple[Gap, ...] = (
    Gap(
        routes=("keras-torch", "keras-jax"),
        layers=(),
        when=lambda x, p: "Orthogonal" in initialisers(p) and compute_dtype(x, p) in ("float16", "bfloat16"),
        raises="NotImplementedError",
        evidence="\"geqrf_cpu\" not implemented for 'Half'; 'Unsupported dtype float16.'",
    ),
    Gap(
        routes=("keras-tf", "keras2-tf"),
        layers=(),
        when=lambda x, p: "Orthogonal" in initialisers(p) and compute_dtype(x, p) == "bfloat16",
        raises="InvalidArgumentError",
        evidence="Value for attr 'T' of bfloat16 is not in the list of allowed values",
    ),
)
