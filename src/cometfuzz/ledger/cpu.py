"""Which CPU something was seen on: some defects live in kernels that only newer ones run."""

import platform
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


@cache
def cpu_level() -> str:
    """The level of this CPU; another kind of machine by its name."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        text = ""
    lines = (line for line in text.splitlines() if line.startswith("flags"))
    return level_of(set(next(lines, "").partition(":")[2].split()), platform.machine())


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
