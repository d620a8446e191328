"""Where each library takes its issues, and the sections that its form asks for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Content = Literal[
    "problem", "seen", "expected", "others", "script", "output", "versions", "system", "python", "own version"
]
"""What a section is filled with.

problem: what is wrong, in a sentence. seen, expected: the two sides. others: which libraries agree. own version: that
of the blamed library alone.
"""


Sections = tuple[tuple[str, tuple[Content, ...] | str], ...]
"""Headings in order, each with what goes below it, or with a fixed answer."""


@dataclass(frozen=True)
class Tracker:
    """Where it is, its form, and what its titles begin with."""

    address: str
    sections: Sections
    prefix: str = ""


_KERAS: Sections = (
    ("System information", ("versions", "system")),
    ("Describe the problem", ("problem",)),
    ("Describe the current behavior", ("seen",)),
    ("Describe the expected behavior", ("expected", "others")),
    ("Standalone code to reproduce the issue", ("script",)),
    ("Source code / logs", ("output",)),
)
_TENSORFLOW: Sections = (
    ("Issue type", "Bug"),
    ("Source", "binary"),
    ("TensorFlow version", ("own version",)),
    ("Custom code", "Yes"),
    ("OS platform and distribution", ("system",)),
    ("Python version", ("python",)),
    ("Current behavior?", ("problem", "seen", "expected", "others")),
    ("Standalone code to reproduce the issue", ("script",)),
    ("Relevant log output", ("output", "versions")),
)
_PYTORCH: Sections = (
    ("🐛 Describe the bug", ("problem", "seen", "script", "output", "expected", "others")),
    ("Versions", ("versions", "system")),
)
_JAX: Sections = (
    ("Description", ("problem", "seen", "script", "output", "expected", "others")),
    ("What jax/jaxlib version are you using?", ("own version",)),
    ("Which accelerator(s) are you using?", "CPU"),
    ("Additional system info", ("versions", "system")),
)
_ONNXRUNTIME: Sections = (
    ("Describe the issue", ("problem", "seen", "expected", "others")),
    ("To reproduce", ("script", "output")),
    ("Urgency", "None."),
    ("Platform", ("system",)),
    ("ONNX Runtime Installation", "Released Package"),
    ("ONNX Runtime Version or Commit ID", ("own version",)),
    ("ONNX Runtime API", "Python"),
    ("Execution Provider", "Default CPU"),
)
_OPENVINO: Sections = (
    ("OpenVINO Version", ("own version",)),
    ("Operating System", ("system",)),
    ("Device used for inference", "CPU"),
    ("Framework", "ONNX"),
    ("Model used", "The script builds it."),
    ("Issue description", ("problem", "seen", "expected", "others")),
    ("Step-by-step reproduction", ("script",)),
    ("Relevant log output", ("output", "versions")),
)
_TF2ONNX: Sections = (
    ("Describe the bug", ("problem", "seen", "expected", "others")),
    ("Urgency", "None."),
    ("System information", ("versions", "system")),
    ("To Reproduce", ("script",)),
    ("Additional context", ("output",)),
)
_ONNX: Sections = (
    ("Is the issue related to model conversion?", "No: the script builds the model, and onnx.checker accepts it."),
    ("Describe the bug", ("problem", "seen")),
    ("System information", ("versions", "system")),
    ("Reproduction instructions", ("script", "output")),
    ("Expected behavior", ("expected", "others")),
)
_LITERT: Sections = (
    ("System information", ("versions", "system")),
    ("Command used to run the converter or code", ("script",)),
    ("The output from the converter invocation", ("output",)),
    ("Failure details", ("problem", "seen", "expected", "others")),
)
_PLAIN: Sections = (
    ("What is wrong", ("problem", "seen")),
    ("What was expected", ("expected", "others")),
    ("To reproduce", ("script",)),
    ("Output", ("output",)),
    ("Versions", ("versions", "system")),
)
PLAIN = Tracker("", _PLAIN)
"""For a library whose form nobody has looked at, or that has none."""

TRACKERS: Mapping[str, Tracker] = {
    "keras": Tracker("https://github.com/keras-team/keras/issues", _KERAS),
    "tf-keras": Tracker("https://github.com/keras-team/tf-keras/issues", _KERAS),
    "tensorflow": Tracker("https://github.com/tensorflow/tensorflow/issues", _TENSORFLOW),
    "torch": Tracker("https://github.com/pytorch/pytorch/issues", _PYTORCH),
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
"""By the name of the library that stages are blamed on."""
