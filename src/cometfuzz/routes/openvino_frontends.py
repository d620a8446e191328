"""OpenVINO by its other front ends: a SavedModel, a LiteRT file, a program of torch.export, and Keras' own export.

They share what makes the file with the routes that are there for it, and are compiled and run as ONNX files are.
"""

from __future__ import annotations

import io
import re
import tempfile
import zipfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from cometfuzz.protocol import WireTensor
from cometfuzz.routes import Route, Stage, Step, Work, libraries
from cometfuzz.routes.handing import output_name, runs, signature
from cometfuzz.routes.keras import BUILD_TF, BUILD_TORCH, TF, TORCH, Built
from cometfuzz.routes.litert import CONVERT as TFLITE
from cometfuzz.routes.openvino import GROUP, OpenVinoAdapter, wire_of
from cometfuzz.routes.tensorflow import SAVE as SAVED_MODEL
from cometfuzz.routes.tensorflow import packed
from cometfuzz.routes.torch_compilers import EXPORT, Exported

_ENGINE = "cometfuzz.triage.scripts.engines:openvino_export"
_STAGES = tuple(Stage(name, libraries.OPENVINO) for name in ("load", "compile", "run"))


def _reading(name: str, call: str) -> Step:
    return Step(name, GROUP, __name__, call, _STAGES, tells=True)


def _exporting(name: str, group: Any) -> Step:
    stages = (Stage("export", libraries.KERAS),)
    return Step(name, group, __name__, "export", stages, engine=_ENGINE)


_FROM_TORCH = Step("openvino.torch", TORCH, __name__, "convert", (Stage("convert", libraries.OPENVINO),))
OPENVINO_SAVED = Route(
    "openvino-saved",
    "keras-tf > SavedModel > OpenVINO",
    "keras3",
    (BUILD_TF, SAVED_MODEL, _reading("openvino-saved", "run_saved")),
    turn="",
)
OPENVINO_TFLITE = Route(
    "openvino-tflite",
    "keras-tf > LiteRT converter > OpenVINO",
    "keras3",
    (BUILD_TF, TFLITE, _reading("openvino-tflite", "run_tflite")),
    turn="",
)
OPENVINO_TORCH = Route(
    "openvino-torch",
    "keras-torch > torch.export > OpenVINO",
    "keras3",
    (BUILD_TORCH, EXPORT, _FROM_TORCH, _reading("openvino-torch", "run_ir")),
    turn="",
)
OPENVINO_EXPORT_TF = Route(
    "openvino-export-tf",
    "keras-tf > Keras' export to OpenVINO > OpenVINO",
    "keras3",
    (BUILD_TF, _exporting("ir-of-keras-tf", TF), _reading("openvino-export-tf", "run_ir")),
    turn="",
)
OPENVINO_EXPORT_TORCH = Route(
    "openvino-export-torch",
    "keras-torch > Keras' export to OpenVINO > OpenVINO",
    "keras3",
    (BUILD_TORCH, _exporting("ir-of-keras-torch", TORCH), _reading("openvino-export-torch", "run_ir")),
    turn="",
)


def start(options: Mapping[str, str]) -> FrontEndAdapter:
    """Import OpenVINO."""
    import openvino

    return FrontEndAdapter(openvino, options)


def by_place(inputs: Sequence[str], seen: Sequence[Collection[str]]) -> list[int]:
    """For each input of a compiled model, the place of the one of ours that it is: by a name that holds ours, else by
    its own place."""
    said = [{form.format(name): place for form in _INPUTS} for place, name in enumerate(inputs)]
    known = {name: place for each in said for name, place in each.items()}
    return [next((known[name] for name in names if name in known), place) for place, names in enumerate(seen)]


_INPUTS = ("{}", "{}:0", "serving_default_{}:0")
"""What front ends call the input of a name."""


def in_our_order(expected: Sequence[str], seen: Sequence[Collection[str]]) -> list[int]:
    """The places of a compiled model's outputs, in the order of ours, which have the expected names in a SavedModel.

    A LiteRT file numbers them in the order of the alphabet, a function of TensorFlow in our own. What has no such name
    keeps its place.
    """
    left = list(expected)
    numbered = {_CALL: sorted(expected), _RESULT: expected}
    found: dict[str, int] = {}
    for place, names in enumerate(seen):
        for name in names:
            known = name
            for pattern, order in numbered.items():
                match = pattern.fullmatch(name)
                if match and int(match[1] or 0) < len(order):
                    known = order[int(match[1] or 0)]
            if known in left:
                left.remove(known)
                found[known] = place
                break
    others = [place for place in range(len(seen)) if place not in found.values()]
    found.update({name: others[index] for index, name in enumerate(left[: len(others)])})
    return [found[name] for name in expected if name in found]


_CALL = re.compile(r"\w*PartitionedCall\w*:(\d+)")
"""What a LiteRT file calls an output."""

_RESULT = re.compile(r"Identity(?:_(\d+))?:0")
"""What a function of TensorFlow calls its results; OpenVINO puts them in the order of the alphabet, 10 before 2."""


class FrontEndAdapter(OpenVinoAdapter):
    """Reads what is no ONNX file. Inputs are given by place, or by the name that the file has for each."""

    def run_saved(self, work: Work, artefact: bytes) -> list[WireTensor]:
        return self._run_folder(work, artefact, "")

    def run_ir(self, work: Work, artefact: bytes) -> list[WireTensor]:
        return self._run_folder(work, artefact, "model.xml")

    def _run_folder(self, work: Work, artefact: bytes, name: str) -> list[WireTensor]:
        work.enter("load")
        with tempfile.TemporaryDirectory() as folder:
            zipfile.ZipFile(io.BytesIO(artefact)).extractall(folder)
            return self._run(work, str(Path(folder, name)))

    def run_tflite(self, work: Work, artefact: bytes) -> list[WireTensor]:
        work.enter("load")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.tflite")
            path.write_bytes(artefact)
            return self._run(work, str(path))

    def _run(self, work: Work, path: str) -> list[WireTensor]:
        with work.library():
            model = self.core.read_model(path)
        work.enter("compile")
        with work.library():
            compiled = self.compiled(model)
        work.enter("run")
        outputs = work.graph.outputs
        names = [output_name(index) if work.manner.named else f"output_{index}" for index in range(len(outputs))]
        inputs = by_place([node.id for node in work.graph.inputs], [each.names for each in compiled.inputs])
        order = in_our_order(names, [each.names for each in compiled.outputs])
        for arrays in runs(work):
            with work.library():
                results = compiled([self.tensor(arrays[place]) for place in inputs])
                values = [(each.element_type.to_string(), results[each]) for each in compiled.outputs]
        return [wire_of(*values[place]) for place in order]

    def convert(self, work: Work, exported: Exported) -> bytes:
        """A program of torch.export as OpenVINO's own files."""
        work.enter("convert")
        with tempfile.TemporaryDirectory() as folder:
            with work.library():
                model = self.openvino.convert_model(exported.program)
                self.openvino.save_model(model, str(Path(folder, "model.xml")), compress_to_fp16=False)
            return packed(folder)

    def export(self, work: Work, built: Built) -> bytes:
        """What Keras' own export makes of it, told the sizes."""
        import keras

        work.enter("export")
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder, "model.xml"))
            with work.library():
                told = signature(keras, work)
                built.model.export(path, format="openvino", verbose=False, input_signature=told)
            return packed(folder)
