"""LiteRT: the Keras model through TensorFlow's converter, on the LiteRT interpreter."""

from collections.abc import Iterable, Mapping
from typing import Any

from cometfuzz.execution.protocol import WireTensor
from cometfuzz.routes import QUIET, Group, Route, Stage, Step, Work
from cometfuzz.routes.keras import BUILD_TF, TF, Built
from cometfuzz.routes.tensors import to_array, to_wire

_CONVERT = Step("tflite", TF, __name__, "convert", (Stage("convert", "litert-converter"),), {"part": "converter"})
_STAGES = (Stage("load", "litert"), Stage("run", "litert"))
_RUN = Step("litert", Group("litert", "main", QUIET), __name__, "run", _STAGES, {"part": "interpreter"})
LITERT = Route("litert", "keras-tf > LiteRT converter > LiteRT", "keras3", (BUILD_TF, _CONVERT, _RUN))


def start(options: Mapping[str, str]) -> "ConverterSession | InterpreterSession":
    """Import the converter or the interpreter."""
    if options["part"] == "converter":
        import tensorflow

        return ConverterSession(tensorflow)
    from ai_edge_litert import interpreter

    return InterpreterSession(interpreter)


class ConverterSession:
    """Converts the model that keras-tf built."""

    def __init__(self, tensorflow: Any) -> None:
        self.tf = tensorflow

    def versions(self) -> dict[str, str]:
        return {"litert-converter": f"tensorflow {self.tf.__version__}"}

    def convert(self, work: Work, built: Built) -> bytes:
        work.enter("convert")
        with work.library():
            content: bytes = self.tf.lite.TFLiteConverter.from_keras_model(built.model).convert()
        return content


class InterpreterSession:
    """Runs flatbuffers on one thread."""

    def __init__(self, interpreter: Any) -> None:
        self.interpreter = interpreter

    def versions(self) -> dict[str, str]:
        from importlib.metadata import version

        return {"litert": version("ai-edge-litert")}

    def run(self, work: Work, artefact: bytes) -> list[WireTensor]:
        work.enter("load")
        with work.library():
            interpreter = self.interpreter.Interpreter(model_content=artefact, num_threads=1)
            interpreter.allocate_tensors()
            runner = interpreter.get_signature_runner()
        work.enter("run")
        names = [node.id for node in work.graph.inputs]
        given = {name: to_array(tensor) for name, tensor in zip(names, work.inputs, strict=True)}
        with work.library():
            results = runner(**{name: array for name, array in given.items() if name in runner.get_input_details()})
        return [to_wire(results[name]) for name in in_order(results)]


def in_order(names: Iterable[str]) -> list[str]:
    """Names of outputs by their number: output_2 before output_10."""
    return sorted(names, key=lambda name: (len(name), name))
