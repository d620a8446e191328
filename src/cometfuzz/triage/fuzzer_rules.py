"""PyTorch's rules for reports of fuzzers: a wrong value counts beyond its default tolerances, against float64."""

import ast
import re

import numpy as np

from cometfuzz.triage.bug import Bug
from cometfuzz.triage.example import Example

TOLERANCES = {"float16": (1e-3, 1e-5), "bfloat16": (1.6e-2, 1e-5), "float32": (1.3e-6, 1e-5), "float64": (1e-7, 1e-7)}
"""Relative and absolute, as torch.testing.assert_close has them by default."""


def rules_text(bug: Bug, example: Example | None) -> str:
    """How a report meets the rules, in a sentence; nothing if it is not about values."""
    if bug.finding.symptom != "value":
        return ""
    if example is not None and example.by_hand and "assert_close" in example.text:
        return "The example compares with a float64 baseline by torch.testing.assert_close with its default tolerances."
    dtype = next((name for name in TOLERANCES if name in bug.signature.condition.split(", ")), "float32")
    relative, absolute = TOLERANCES[dtype]
    said = f"PyTorch's default tolerances for {dtype} (rtol={relative:g}, atol={absolute:g}) and a float64 baseline"
    beyond = exceeds(bug, relative, absolute)
    if beyond is None:
        return f"Compare with {said} before this is reported: the script's own tolerance is narrower."
    return f"The difference is {'beyond' if beyond else 'within'} {said}."


def exceeds(bug: Bug, relative: float, absolute: float) -> bool | None:
    """Whether what a script printed differs from what it expected by more than that; None if it cannot be told."""
    output = bug.script.output if bug.script else ""
    texts = [re.search(rf"^{name}:\s*(\[.*\])$", output, re.MULTILINE) for name in ("expected", "seen")]
    try:
        expected, seen = (np.array(ast.literal_eval(text[1]), np.float64) for text in texts if text)
    except (ValueError, SyntaxError, TypeError, RecursionError):
        return None
    if expected.shape != seen.shape:
        return True
    return bool((np.abs(seen - expected) > absolute + relative * np.abs(expected)).any())
