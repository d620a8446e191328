"""Layers that are not written, with the reason. What is written only in part says why not as it is written."""

from __future__ import annotations

UNSAID: dict[str, str] = {}
