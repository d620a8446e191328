"""The Keras model in TensorFlow's own ways: as a tf.function, compiled by XLA, and through a SavedModel."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cometfuzz.compat import zip_strictly
from cometfuzz.protocol import WireTensor
from cometfuzz.routes import Route, Stage, Step, Turn, Work
from cometfuzz.routes.calls import flat
from cometfuzz.routes.handing import arranged, declared_shapes, runs, signature
from cometfuzz.routes.keras import BUILD_TF, TF, Built
from cometfuzz.routes.libraries import KERAS, TENSORFLOW
from cometfuzz.routes.switches import TENSORFLOWS
from cometfuzz.routes.tensors import to_wire

_ENGINES = "cometfuzz.triage.scripts.engines"


def _traced(name: str, path: str, engine: str, cpu_s: float, turn: Turn = "converters") -> Route:
    stages = (Stage("trace", TENSORFLOW), Stage("run", TENSORFLOW))
    call = name.replace("-", "_")
    step = Step(name, TF, __name__, call, stages, engine=f"{_ENGINES}:{engine}", cpu_s=cpu_s)
    return Route(name, path, "keras3", (BUILD_TF, step), turn=turn, switches=TENSORFLOWS)


TF_GRAPH = _traced("tf-graph", "keras-tf as a tf.function", "traced", 0.2)
TF_XLA = _traced("tf-xla", "keras-tf as a tf.function with jit_compile", "compiled", 1.5, "sampled")
SAVE = Step("saved-model", TF, __name__, "save", (Stage("export", KERAS),), engine=f"{_ENGINES}:saved_model", cpu_s=0.5)
LOAD = Step("tf-saved", TF, __name__, "load", (Stage("load", TENSORFLOW), Stage("run", TENSORFLOW)))
TF_SAVED = Route("tf-saved", "keras-tf > SavedModel > TensorFlow", "keras3", (BUILD_TF, SAVE, LOAD), fuses=False)


def packed(folder: str) -> bytes:
    """The files of a folder as an archive."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for path in sorted(Path(folder).rglob("*")):
            archive.write(path, path.relative_to(folder))
    return content.getvalue()


def start(options: Mapping[str, str]) -> TensorFlowAdapter:
    """Import TensorFlow."""
    import tensorflow

    return TensorFlowAdapter(tensorflow)


class TensorFlowAdapter:
    """Takes the model that keras-tf built."""

    def __init__(self, tensorflow: Any) -> None:
        self.tf = tensorflow

    def versions(self) -> dict[str, str]:
        return {"tensorflow": self.tf.__version__}

    def tf_graph(self, work: Work, built: Built) -> list[WireTensor]:
        return self._traced(work, built, jit_compile=False)

    def tf_xla(self, work: Work, built: Built) -> list[WireTensor]:
        return self._traced(work, built, jit_compile=True)

    def _traced(self, work: Work, built: Built, jit_compile: bool) -> list[WireTensor]:
        work.enter("trace")
        with work.library():
            function = self.tf.function(
                lambda *given: built.model(arranged(work, given), training=False), jit_compile=jit_compile
            )
            kinds = zip_strictly(declared_shapes(work), work.inputs)
            specs = [self.tf.TensorSpec(shape, tensor.dtype) for shape, tensor in kinds]
            concrete = function.get_concrete_function(*specs)
        work.enter("run")
        return self._call(work, concrete)

    def save(self, work: Work, built: Built) -> bytes:
        """The SavedModel's folder as an archive; Keras leaves the size of the batch open. One without `export` has
        TensorFlow save the model."""
        return self._save(work, built)

    def save_with_sizes(self, work: Work, built: Built) -> bytes:
        """The same, told the sizes: JAX cannot join a constant of two rows with a batch of any size."""
        import keras

        return self._save(work, built, input_signature=signature(keras, work))

    def _save(self, work: Work, built: Built, **told: Any) -> bytes:
        work.enter("export")
        with tempfile.TemporaryDirectory() as folder:
            with work.library():
                if hasattr(built.used, "export"):
                    built.model.export(folder, format="tf_saved_model", verbose=False, **told)
                else:
                    self.tf.saved_model.save(built.model, folder)
            return packed(folder)

    def load(self, work: Work, artefact: bytes) -> list[WireTensor]:
        work.enter("load")
        with tempfile.TemporaryDirectory() as folder:
            zipfile.ZipFile(io.BytesIO(artefact)).extractall(folder)
            with work.library():
                loaded = self.tf.saved_model.load(folder)
            work.enter("run")
            if hasattr(loaded, "serve"):
                return self._call(work, lambda *given: loaded.serve(arranged(work, given)))
            return self._call(work, lambda *given: loaded(given[0] if len(given) == 1 else list(given), False))

    def _call(self, work: Work, function: Any) -> list[WireTensor]:
        for arrays in runs(work):
            with work.library():
                results = flat(function(*[self.tf.constant(array) for array in arrays]))
                values = [(value.dtype.name, value.numpy()) for value in results]
        return [to_wire(value, dtype) for dtype, value in values]
