"""Gaps of this family's layers."""

from cometfuzz.routes.gaps import Gap

GAPS: tuple[Gap, ...] = ()
