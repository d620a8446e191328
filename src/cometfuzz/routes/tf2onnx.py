"""tf2onnx: the Keras model as an ONNX file, which six routes read.

Inputs keep the names of their nodes, outputs their order. Opset 15 is the newest that all readers know. tf2onnx leaves
operators that it does not know in the file as they are, and only logs it; so the file is checked here, where it is
tf2onnx's failure and not its readers'.
"""

from collections.abc import Mapping
from typing import Any

from cometfuzz.routes import Stage, Step, Work
from cometfuzz.routes.calls import flat
from cometfuzz.routes.keras import BUILD_TF, TF, Built

TF2ONNX = Step("tf2onnx", TF, __name__, "convert", (Stage("tf2onnx", "tf2onnx"),), {"opset": "15"})
STEPS = (BUILD_TF, TF2ONNX)


def start(options: Mapping[str, str]) -> "ConverterSession":
    """Import tf2onnx."""
    import onnx
    import tensorflow
    import tf2onnx

    return ConverterSession(tf2onnx, tensorflow, onnx, int(options["opset"]))


class ConverterSession:
    """Takes the model that keras-tf built."""

    def __init__(self, tf2onnx: Any, tensorflow: Any, onnx: Any, opset: int) -> None:
        self.tf2onnx, self.tf, self.onnx, self.opset = tf2onnx, tensorflow, onnx, opset

    def versions(self) -> dict[str, str]:
        return {"tf2onnx": self.tf2onnx.__version__}

    def convert(self, work: Work, built: Built) -> bytes:
        work.enter("tf2onnx")
        with work.library():
            model = built.model
            names = [node.id for node in work.graph.inputs]
            signature = [
                self.tf.TensorSpec(tensor.shape, tensor.dtype, name=name)
                for name, tensor in zip(names, work.inputs, strict=True)
            ]
            function = self.tf.function(
                lambda *given: {
                    f"output_{index:03}": self.tf.identity(value)
                    for index, value in enumerate(flat(model(list(given), training=False)))
                },
                input_signature=signature,
                autograph=False,
            )
            captured = function.get_concrete_function().graph.captures
            if any(outer.dtype != self.tf.resource for outer, _ in captured):
                # from_function would make inputs of constants that a layer holds as tensors
                proto, _ = self.tf2onnx.convert.from_keras(model, signature, opset=self.opset)
            else:
                proto, _ = self.tf2onnx.convert.from_function(function, signature, opset=self.opset)
            self.onnx.checker.check_model(proto, full_check=True)
            self._check_types(work, proto)
            content: bytes = proto.SerializeToString()
        return content

    def _check_types(self, work: Work, proto: Any) -> None:
        """The file must take and give what the model does."""
        name_of = self.onnx.helper.tensor_dtype_to_np_dtype
        types = {node.id: node.outputs[0].dtype for node in work.graph.inputs}
        declared = [(types[given.name], given) for given in proto.graph.input]
        outputs = [work.graph.type_of(edge).dtype for edge in work.graph.outputs]
        for dtype, value in [*declared, *zip(outputs, proto.graph.output, strict=True)]:
            seen = name_of(value.type.tensor_type.elem_type).name
            if seen != dtype:
                raise DeclaredOtherwise(f"expected {value.name} in {dtype}; received dtype={seen}")


class DeclaredOtherwise(Exception):
    """A tensor has another dtype in the ONNX file than in the model."""
