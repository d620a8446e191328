"""LiteRT: the Keras model through TensorFlow's converter, on the LiteRT interpreter."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from cometfuzz.compat import zip_strictly
from cometfuzz.protocol import WireTensor
from cometfuzz.routes import QUIET, Group, Route, Stage, Step, Work, libraries
from cometfuzz.routes.handing import runs
from cometfuzz.routes.keras import BUILD_TF, TF, Built
from cometfuzz.routes.tensors import to_wire

_ENGINE = "cometfuzz.triage.scripts.engines:litert"
CONVERT = Step(
    "tflite",
    TF,
    __name__,
    "convert",
    (Stage("convert", libraries.LITERT_CONVERTER),),
    {"part": "converter"},
    engine=_ENGINE,
    cpu_s=0.8,
)
_STAGES = (Stage("load", libraries.LITERT), Stage("run", libraries.LITERT))
_RUN = Step("litert", Group("litert", "main", QUIET), __name__, "run", _STAGES, {"part": "interpreter"}, cpu_s=0.01)
LITERT = Route("litert", "keras-tf > LiteRT converter > LiteRT", "keras3", (BUILD_TF, CONVERT, _RUN), clear=True)


def start(options: Mapping[str, str]) -> ConverterAdapter | InterpreterAdapter:
    """Import the converter or the interpreter."""
    if options["part"] == "converter":
        import tensorflow

        return ConverterAdapter(tensorflow)
    from ai_edge_litert import interpreter

    return InterpreterAdapter(interpreter)


class ConverterAdapter:
    """Converts the model that keras-tf built."""

    def __init__(self, tensorflow: Any) -> None:
        self.tf = tensorflow

    def versions(self) -> dict[str, str]:
        return {"litert-converter": f"tensorflow {self.tf.__version__}"}

    def convert(self, work: Work, built: Built) -> bytes:
        work.enter("convert")
        with work.library():
            if work.manner.exporter == "export":
                return self._exported(built.model)
            content: bytes = self.tf.lite.TFLiteConverter.from_keras_model(built.model).convert()
        return content

    def _exported(self, model: Any) -> bytes:
        """What Keras' own export makes of it."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.tflite")
            model.export(path, format="litert", verbose=False)
            return path.read_bytes()


class InterpreterAdapter:
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
            if not work.manner.opened:  # else open sizes are 1 until there is an input, which a model need not bear
                interpreter.allocate_tensors()
            runner = interpreter.get_signature_runner()
        work.enter("run")
        names = [node.id for node in work.graph.inputs]
        with work.library():
            taken = runner.get_input_details()
        for arrays in runs(work):
            given = {name: array for name, array in zip_strictly(names, arrays) if name in taken}
            with work.library():
                results = runner(**given)
        return [to_wire(results[name]) for name in in_order(results)]


def in_order(names: Iterable[str]) -> list[str]:
    """Names of outputs by their number: output_2 before output_10."""
    return sorted(names, key=lambda name: (len(name), name))
