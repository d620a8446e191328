"""Libraries: what is to be known of one wherever it is blamed, and a record for each that our routes lead to.

A stage names the record of the library that it blames. A package from outside makes its own; ours are here because
several routes lead to most of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from cometfuzz.routes import trackers
from cometfuzz.routes.trackers import Tracker


@dataclass(frozen=True)
class Library:
    """A library under test; two records of one name are the same library.

    proper: what its users call it; else its name. role: what it is called in the role of a blame, after "converter" or
    "runtime", if that is not its proper name. distributions: the packages that bring it, of which the first one that is
    installed counts; else the one that has its name. maintained: whether anybody mends it.
    """

    name: str
    proper: str = field(default="", compare=False)
    tracker: Tracker = field(default=Tracker(), compare=False)
    role: str = field(default="", compare=False)
    distributions: tuple[str, ...] = field(default=(), compare=False)
    maintained: bool = field(default=True, compare=False)

    @property
    def title(self) -> str:
        """What its users call it."""
        return self.proper or self.name

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages that bring it."""
        return self.distributions or (self.name,)


def of_github(repository: str, form: trackers.Sections = trackers.NO_FORM) -> Tracker:
    """The tracker of a repository."""
    return Tracker(f"https://github.com/{repository}/issues", form)


_IN_TENSORFLOW = ("tensorflow-cpu", "tensorflow")
_OF_LITERT = of_github("google-ai-edge/LiteRT", trackers.LITERT)

KERAS = Library(
    "keras", "Keras", of_github("keras-team/keras", trackers.KERAS), distributions=("keras", "keras-nightly")
)
TF_KERAS = Library("tf-keras", tracker=of_github("keras-team/tf-keras", trackers.KERAS))
TENSORFLOW = Library(
    "tensorflow",
    "TensorFlow",
    of_github("tensorflow/tensorflow", trackers.TENSORFLOW),
    distributions=_IN_TENSORFLOW,
)
TORCH = Library("torch", "PyTorch", replace(of_github("pytorch/pytorch", trackers.PYTORCH), labels=("topic: fuzzer",)))
JAX = Library("jax", "JAX", replace(of_github("jax-ml/jax", trackers.JAX), prefix="BUG: "))
ONNXRUNTIME = Library("onnxruntime", "ONNX Runtime", of_github("microsoft/onnxruntime", trackers.ONNXRUNTIME))
OPENVINO = Library(
    "openvino", "OpenVINO", replace(of_github("openvinotoolkit/openvino", trackers.OPENVINO), prefix="[Bug]: ")
)
TF2ONNX = Library("tf2onnx", tracker=of_github("onnx/tensorflow-onnx", trackers.TF2ONNX))
ONNX = Library("onnx", "ONNX", of_github("onnx/onnx", trackers.ONNX), role="ONNX ReferenceEvaluator")
LITERT = Library("litert", "LiteRT", _OF_LITERT, distributions=("ai-edge-litert",))
LITERT_CONVERTER = Library(
    "litert-converter", "LiteRT converter", _OF_LITERT, role="of LiteRT", distributions=_IN_TENSORFLOW
)
ONNX2TORCH = Library("onnx2torch", tracker=of_github("ENOT-AutoDL/onnx2torch"))
ONNX2PYTORCH = Library("onnx2pytorch", tracker=of_github("Talmaj/onnx2pytorch"), maintained=False)
OPENCV = Library(
    "opencv", "OpenCV", of_github("opencv/opencv"), distributions=("opencv-python-headless", "opencv-python")
)
TRACT = Library("tract", tracker=of_github("sonos/tract"))
ONNXSIM = Library("onnxsim", tracker=of_github("onnxsim/onnxsim"))
IREE = Library("iree", "IREE", of_github("iree-org/iree"), distributions=("iree-base-compiler",))
TVM = Library("tvm", "TVM", replace(of_github("apache/tvm"), prefix="[Bug] "), distributions=("apache-tvm",))
# The roles of the next two are as collected bugs have them in their titles.
MXNET = Library("mxnet", "MXNet", of_github("apache/mxnet"), role="mxnet", maintained=False)
KERAS_MXNET = Library(
    "keras-mxnet", "Keras-MXNet", of_github("awslabs/keras-apache-mxnet"), role="keras-mxnet", maintained=False
)
COMETFUZZ = Library("cometfuzz", role="cometfuzz' own ONNX")
"""Ourselves, where what we write for readers may be wrong. It is no library under test: such a blame is our error."""
