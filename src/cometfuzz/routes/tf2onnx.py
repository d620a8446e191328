"""tf2onnx: the Keras model as an ONNX file, which many routes read.

Inputs keep the names of their nodes, outputs their order. Opset 15 is the newest that all readers know. tf2onnx leaves
operators that it does not know in the file as they are, and only logs it; so the file is checked here, where it is
tf2onnx's failure and not its readers'.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from typing import Any

from cometfuzz.compat import zip_strictly
from cometfuzz.ir.types import UNKNOWN
from cometfuzz.routes import Stage, Step, Work, libraries
from cometfuzz.routes.calls import flat
from cometfuzz.routes.handing import arranged, declared_shapes, opset_of, output_name
from cometfuzz.routes.keras import BUILD_TF, TF, Built

_ENGINE = "cometfuzz.triage.scripts.engines:tf2onnx"
TF2ONNX = Step(
    "tf2onnx",
    TF,
    __name__,
    "convert",
    (Stage("tf2onnx", libraries.TF2ONNX),),
    {"opset": "15", "newest": "18"},
    engine=_ENGINE,
    cpu_s=0.7,
)
STEPS = (BUILD_TF, TF2ONNX)


def start(options: Mapping[str, str]) -> ConverterAdapter:
    """Import tf2onnx."""
    import onnx
    import tensorflow
    import tf2onnx

    return ConverterAdapter(tf2onnx, tensorflow, onnx, options)


class ConverterAdapter:
    """Takes the model that keras-tf built."""

    def __init__(self, tf2onnx: Any, tensorflow: Any, onnx: Any, options: Mapping[str, str]) -> None:
        self.tf2onnx, self.tf, self.onnx, self.options = tf2onnx, tensorflow, onnx, options

    def versions(self) -> dict[str, str]:
        return {"tf2onnx": self.tf2onnx.__version__}

    def convert(self, work: Work, built: Built) -> bytes:
        work.enter("tf2onnx")
        with work.library():
            proto = self._proto(work, built.model, opset_of(self.options, work.manner.opset))
            self.onnx.checker.check_model(proto, full_check=True)
            self._check_types(work, proto)
            content: bytes = proto.SerializeToString()
        return content

    def _proto(self, work: Work, model: Any, opset: int) -> Any:
        """The model in ONNX, by the exporter that its case names."""
        names = [node.id for node in work.graph.inputs]
        kinds = zip_strictly(declared_shapes(work), work.inputs, names)
        signature = [self.tf.TensorSpec(shape, tensor.dtype, name=name) for shape, tensor, name in kinds]
        if work.manner.exporter == "export":
            return self._exported(model, opset)
        function = self.tf.function(
            lambda *given: {
                output_name(index): self.tf.identity(value)
                for index, value in enumerate(flat(model(arranged(work, given), training=False)))
            },
            input_signature=signature,
            autograph=False,
        )
        captured = function.get_concrete_function().graph.captures
        if work.manner.exporter or any(outer.dtype != self.tf.resource for outer, _ in captured):
            # from_function would make inputs of constants that a layer holds as tensors
            proto, _ = self.tf2onnx.convert.from_keras(model, signature, opset=opset)
        else:
            proto, _ = self.tf2onnx.convert.from_function(function, signature, opset=opset)
        return proto

    def _exported(self, model: Any, opset: int) -> Any:
        """What Keras' own export makes of it."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.onnx")
            model.export(path, format="onnx", verbose=False, opset_version=opset)
            return self.onnx.load(path)

    def _check_types(self, work: Work, proto: Any) -> None:
        """The file must take and give what the model does."""
        known = getattr(self.onnx.helper, "tensor_dtype_to_np_dtype", None)
        name_of = known or self.onnx.mapping.TENSOR_TYPE_TO_NP_TYPE.__getitem__  # as it was before
        types = {node.id: node.outputs[0].dtype for node in work.graph.inputs}
        declared = [(types[given.name], given) for given in proto.graph.input]
        outputs = [work.graph.type_of(edge).dtype for edge in work.graph.outputs]
        for dtype, value in [*declared, *zip_strictly(outputs, proto.graph.output)]:
            seen = name_of(value.type.tensor_type.elem_type).name
            if dtype not in (seen, UNKNOWN.dtype):
                raise DeclaredOtherwise(f"expected {value.name} in {dtype}; received dtype={seen}")


class DeclaredOtherwise(Exception):
    """A tensor has another dtype in the ONNX file than in the model."""
