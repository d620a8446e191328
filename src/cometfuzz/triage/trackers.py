"""Where each library takes its issues, and the sections that its form asks for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
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


Sections = tuple[tuple[str, tuple[Content, ...] | str], ...]
"""Headings, each with what goes below it, or with a fixed answer. The one that says what is wrong comes first, whatever
the order of the form: its fields are filled one by one."""


@dataclass(frozen=True)
class Tracker:
    """Where it is, its form, what its titles begin with, and the labels that it wants for reports of fuzzers."""

    address: str
    sections: Sections
    prefix: str = ""
    labels: tuple[str, ...] = ()

    def search(self, words: str) -> str:
        """The address that looks for words among all issues."""
        return f"{self.address}?q={quote_plus(f'is:issue {words}')}" if self.address else ""


_KERAS: Sections = (
    ("Describe the problem", ("why", "related")),
    ("Standalone code to reproduce the issue", ("example",)),
    ("Describe the current behavior", ("actual",)),
    ("Describe the expected behavior", ("expected",)),
    ("System information", ("versions", "system", "found")),
    ("Source code / logs", ("script",)),
)
_TENSORFLOW: Sections = (
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
_PYTORCH: Sections = (
    ("🐛 Describe the bug", ("why", "related", "example", "actual", "expected", "rules", "found", "script")),
    ("Versions", ("versions", "system")),
)
_JAX: Sections = (
    ("Description", ("why", "related", "example", "actual", "expected", "found", "script")),
    ("What jax/jaxlib version are you using?", ("own version",)),
    ("Which accelerator(s) are you using?", "CPU"),
    ("Additional system info", ("versions", "system")),
)
_ONNXRUNTIME: Sections = (
    ("Describe the issue", ("why", "related", "actual", "expected", "versions", "found")),
    ("To reproduce", ("example", "script")),
    ("Urgency", "None."),
    ("Platform", ("system",)),
    ("ONNX Runtime Installation", "Released Package"),
    ("ONNX Runtime Version or Commit ID", ("own version",)),
    ("ONNX Runtime API", "Python"),
    ("Execution Provider", "Default CPU"),
)
_OPENVINO: Sections = (
    ("Issue description", ("why", "related", "actual", "expected", "found")),
    ("Step-by-step reproduction", ("example",)),
    ("OpenVINO Version", ("own version",)),
    ("Operating System", ("system",)),
    ("Device used for inference", "CPU"),
    ("Framework", "ONNX"),
    ("Model used", "The script builds it."),
    ("Relevant log output", ("versions", "script")),
)
_TF2ONNX: Sections = (
    ("Describe the bug", ("why", "related", "actual", "expected")),
    ("To Reproduce", ("example",)),
    ("Urgency", "None."),
    ("System information", ("versions", "system")),
    ("Additional context", ("found", "script")),
)
_ONNX: Sections = (
    ("Describe the bug", ("why", "related", "actual")),
    ("Reproduction instructions", ("example",)),
    ("Expected behavior", ("expected",)),
    ("Is the issue related to model conversion?", "No: the code builds the model, and onnx.checker accepts it."),
    ("System information", ("versions", "system", "found", "script")),
)
_LITERT: Sections = (
    ("Failure details", ("why", "related", "actual", "expected", "found")),
    ("Command used to run the converter or code", ("example",)),
    ("System information", ("versions", "system")),
    ("The output from the converter invocation", ("script",)),
)
_PLAIN: Sections = (
    ("What is wrong", ("why", "related")),
    ("To reproduce", ("example",)),
    ("Actual", ("actual",)),
    ("Expected", ("expected",)),
    ("Versions", ("versions", "system", "found", "script")),
)
PLAIN = Tracker("", _PLAIN)
"""For a library whose form nobody has looked at, or that has none."""

TRACKERS: Mapping[str, Tracker] = {
    "keras": Tracker("https://github.com/keras-team/keras/issues", _KERAS),
    "tf-keras": Tracker("https://github.com/keras-team/tf-keras/issues", _KERAS),
    "tensorflow": Tracker("https://github.com/tensorflow/tensorflow/issues", _TENSORFLOW),
    "torch": Tracker("https://github.com/pytorch/pytorch/issues", _PYTORCH, labels=("topic: fuzzer",)),
    "jax": Tracker("https://github.com/jax-ml/jax/issues", _JAX, prefix="BUG: "),
    "onnxruntime": Tracker("https://github.com/microsoft/onnxruntime/issues", _ONNXRUNTIME),
    "openvino": Tracker("https://github.com/openvinotoolkit/openvino/issues", _OPENVINO, prefix="[Bug]: "),
    "tf2onnx": Tracker("https://github.com/onnx/tensorflow-onnx/issues", _TF2ONNX),
    "onnx": Tracker("https://github.com/onnx/onnx/issues", _ONNX),
    "litert": Tracker("https://github.com/google-ai-edge/LiteRT/issues", _LITERT),
    "litert-converter": Tracker("https://github.com/google-ai-edge/LiteRT/issues", _LITERT),
    "onnx2torch": Tracker("https://github.com/ENOT-AutoDL/onnx2torch/issues", _PLAIN),
    "onnx2pytorch": Tracker("https://github.com/Talmaj/onnx2pytorch/issues", _PLAIN),
    "mxnet": Tracker("https://github.com/apache/mxnet/issues", _PLAIN),
    "keras-mxnet": Tracker("https://github.com/awslabs/keras-apache-mxnet/issues", _PLAIN),
}
"""By the name of the library, as an entry of the ledger has it."""
