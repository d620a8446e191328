"""Trackers: where a library takes its issues, and the sections that its form asks for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Union
from urllib.parse import quote_plus

Content = Literal[
    "why",
    "related",
    "example",
    "actual",
    "expected",
    "versions",
    "system",
    "python",
    "own version",
    "rules",
    "found",
    "script",
]
"""What a section is filled with.

why: the cause, which every draft begins with. related: issues upstream. example: the few lines. actual, expected: what
comes of them, and what should. own version: that of the library alone. rules: how the tracker's rules for fuzzers are
met. found: that a fuzzer found it. script: the attachment, which ends with an exit code.
"""


Sections = tuple[tuple[str, Union[tuple[Content, ...], str]], ...]
"""Headings, each with what goes below it, or with a fixed answer. The one that says what is wrong comes first, whatever
the order of the form: its fields are filled one by one."""


NO_FORM: Sections = (
    ("What is wrong", ("why", "related")),
    ("To reproduce", ("example",)),
    ("Actual", ("actual",)),
    ("Expected", ("expected",)),
    ("Versions", ("versions", "system", "found", "script")),
)
"""For a library whose form nobody has looked at, or that has none."""


@dataclass(frozen=True)
class Tracker:
    """Where it is, its form, what its titles begin with, and the labels that it wants for reports of fuzzers."""

    address: str = ""
    sections: Sections = NO_FORM
    prefix: str = ""
    labels: tuple[str, ...] = ()

    def search(self, words: str) -> str:
        """The address that looks for words among all issues."""
        return f"{self.address}?q={quote_plus(f'is:issue {words}')}" if self.address else ""


KERAS: Sections = (
    ("Describe the problem", ("why", "related")),
    ("Standalone code to reproduce the issue", ("example",)),
    ("Describe the current behavior", ("actual",)),
    ("Describe the expected behavior", ("expected",)),
    ("System information", ("versions", "system", "found")),
    ("Source code / logs", ("script",)),
)
TENSORFLOW: Sections = (
    ("Current behavior?", ("why", "related", "actual", "expected")),
    ("Standalone code to reproduce the issue", ("example",)),
    ("Issue type", "Bug"),
    ("Source", "binary"),
    ("TensorFlow version", ("own version",)),
    ("Custom code", "Yes"),
    ("OS platform and distribution", ("system",)),
    ("Python version", ("python",)),
    ("Relevant log output", ("versions", "found", "script")),
)
PYTORCH: Sections = (
    ("🐛 Describe the bug", ("why", "related", "example", "actual", "expected", "rules", "found", "script")),
    ("Versions", ("versions", "system")),
)
JAX: Sections = (
    ("Description", ("why", "related", "example", "actual", "expected", "found", "script")),
    ("What jax/jaxlib version are you using?", ("own version",)),
    ("Which accelerator(s) are you using?", "CPU"),
    ("Additional system info", ("versions", "system")),
)
ONNXRUNTIME: Sections = (
    ("Describe the issue", ("why", "related", "actual", "expected", "versions", "found")),
    ("To reproduce", ("example", "script")),
    ("Urgency", "None."),
    ("Platform", ("system",)),
    ("ONNX Runtime Installation", "Released Package"),
    ("ONNX Runtime Version or Commit ID", ("own version",)),
    ("ONNX Runtime API", "Python"),
    ("Execution Provider", "Default CPU"),
)
OPENVINO: Sections = (
    ("Issue description", ("why", "related", "actual", "expected", "found")),
    ("Step-by-step reproduction", ("example",)),
    ("OpenVINO Version", ("own version",)),
    ("Operating System", ("system",)),
    ("Device used for inference", "CPU"),
    ("Framework", "ONNX"),
    ("Model used", "The script builds it."),
    ("Relevant log output", ("versions", "script")),
)
TF2ONNX: Sections = (
    ("Describe the bug", ("why", "related", "actual", "expected")),
    ("To Reproduce", ("example",)),
    ("Urgency", "None."),
    ("System information", ("versions", "system")),
    ("Additional context", ("found", "script")),
)
ONNX: Sections = (
    ("Describe the bug", ("why", "related", "actual")),
    ("Reproduction instructions", ("example",)),
    ("Expected behavior", ("expected",)),
    ("Is the issue related to model conversion?", "No: the code builds the model, and onnx.checker accepts it."),
    ("System information", ("versions", "system", "found", "script")),
)
LITERT: Sections = (
    ("Failure details", ("why", "related", "actual", "expected", "found")),
    ("Command used to run the converter or code", ("example",)),
    ("System information", ("versions", "system")),
    ("The output from the converter invocation", ("script",)),
)
