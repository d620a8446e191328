"""Poisoned memory: what malloc gives is filled with a byte, so that a result that nobody has written shows.

glibc does it: MALLOC_PERTURB_ names the byte before a process starts, `mallopt` another one while it runs. Workers have
one byte always; a difference between two of them is memory that was read before anybody wrote it. Needs only the
standard library.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator, Mapping

USUAL, OTHER = 0xA5, 0x3A
"""What memory is filled with when it is given back; when it is given out, with the complements 0x5A and 0xC5. In each
float dtype these are numbers of either sign, none of them small, none of them NaN, which some rules would excuse."""

ENVIRON: Mapping[str, str] = {
    "MALLOC_PERTURB_": str(USUAL),
    "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0",  # small pieces that a thread keeps for itself are not filled
}
"""What a process is started with."""

_M_PERTURB = -6
"""glibc's number for it, from malloc.h."""


def available() -> bool:
    """Whether the C library can do it: glibc, not musl, and not that of macOS."""
    return hasattr(ctypes.CDLL(None), "mallopt") and hasattr(ctypes.CDLL(None), "gnu_get_libc_version")


@contextlib.contextmanager
def filled_otherwise(wanted: bool) -> Iterator[None]:
    """While it lasts, this process has memory filled with the other byte, if that is wanted and can be had."""
    if not wanted or not available():
        yield
        return
    libc = ctypes.CDLL(None)
    libc.mallopt(_M_PERTURB, OTHER)
    try:
        yield
    finally:
        libc.mallopt(_M_PERTURB, USUAL)
