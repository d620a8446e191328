"""Which CPU something was seen on: some defects live in kernels that only newer ones run."""

import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LEVELS = {
    "x86-64-v4": {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"},
    "x86-64-v3": {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"},
    "x86-64-v2": {"cx16", "popcnt", "sse4_1", "sse4_2", "ssse3"},
}
"""The levels of the x86-64 ABI, the newest first, by the features that /proc/cpuinfo names."""


USUAL_CPU = "x86-64-v4"
"""The kind that most servers have and most entries were seen on: what is said of no machine in particular (models that
are only generated, tables in the docs) is said of it, so that it is the same everywhere."""


TELLING = re.compile(r"(avx|amx|asimd|sve)\w*|f16c|fma|fphp|bf16|i8mm|sme2?")
"""The features by which libraries choose their kernels."""

CAPS = (
    *("ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "ONEDNN_CPU_ISA_HINTS", "TF_ENABLE_ONEDNN_OPTS"),
    *("ATEN_CPU_CAPABILITY", "XLA_FLAGS", "MKL_ENABLE_INSTRUCTIONS", "MKL_CBWR", "OPENBLAS_CORETYPE"),
    *("NPY_DISABLE_CPU_FEATURES", "NPY_ENABLE_CPU_FEATURES"),
)
"""The variables by which a library is told to use less than the CPU has, or other kernels."""


@dataclass(frozen=True)
class Cpu:
    """A CPU: its level, what it is called, and its features as far as libraries choose their kernels by them."""

    level: str
    model: str
    features: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.level} ({self.model})" if self.model else self.level


@cache
def this_cpu() -> Cpu:
    """The CPU of this machine."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        text = ""
    return cpu_of(text, platform.machine())


def cpu_of(text: str, machine: str) -> Cpu:
    """The CPU that a text as in /proc/cpuinfo describes; ARM says "Features" for "flags"."""
    lines = [(name.strip(), value.strip()) for name, _, value in (line.partition(":") for line in text.splitlines())]
    first = dict(reversed(lines))
    features = set((first.get("flags") or first.get("Features") or "").split())
    telling = tuple(sorted(name for name in features if TELLING.fullmatch(name)))
    return Cpu(level_of(features, machine), " ".join(first.get("model name", "").split()), telling)


def cpu_level() -> str:
    """The level of this CPU; another kind of machine by its name."""
    return this_cpu().level


def caps_of(environ: Mapping[str, str]) -> dict[str, str]:
    """The caps that variables set."""
    return {name: environ[name] for name in CAPS if name in environ}


def level_of(features: set[str], machine: str) -> str:
    """The newest level all of whose features are there."""
    if machine != "x86_64":
        return machine
    needed: set[str] = set()
    found = "x86-64"
    for level, own in reversed(LEVELS.items()):
        needed |= own
        if needed <= features:
            found = level
    return found
