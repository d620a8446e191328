"""JAX: the model of keras-jax through jax.export, as bytes that another process may call; and as a SavedModel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cometfuzz.protocol import WireTensor
from cometfuzz.routes import Route, Stage, Step, Work, libraries
from cometfuzz.routes.calls import flat
from cometfuzz.routes.handing import arranged, declared_shapes, runs
from cometfuzz.routes.keras import BUILD_JAX, JAX, Built, set_jax_bits
from cometfuzz.routes.tensorflow import LOAD, SAVE
from cometfuzz.routes.tensors import dtype_of, to_wire

_ENGINE = "cometfuzz.triage.scripts.engines:jax_exported"
_EXPORT = Step("jax.export", JAX, __name__, "export", (Stage("jax.export", libraries.JAX),), engine=_ENGINE)
_CALL = Step("jax-export", JAX, __name__, "call", (Stage("deserialize", libraries.JAX), Stage("run", libraries.JAX)))
JAX_EXPORT = Route("jax-export", "keras-jax > jax.export > JAX", "keras3", (BUILD_JAX, _EXPORT, _CALL), turn="")

_SAVED = replace(SAVE, name="saved-model-of-jax", group=JAX, call="save_with_sizes")
JAX_SAVED = Route(
    "jax-saved",
    "keras-jax > SavedModel > TensorFlow",
    "keras3",
    (BUILD_JAX, _SAVED, replace(LOAD, name="jax-saved")),
    turn="",
)


def start(options: Mapping[str, str]) -> JaxAdapter:
    """Import JAX."""
    import jax

    return JaxAdapter(jax)


class JaxAdapter:
    """Takes the model that keras-jax built."""

    def __init__(self, jax: Any) -> None:
        from jax import export

        self.jax, self.exporting = jax, export

    def versions(self) -> dict[str, str]:
        return {"jax": self.jax.__version__}

    def export(self, work: Work, built: Built) -> bytes:
        work.enter("jax.export")
        model = built.model
        with work.library():
            trainable = [variable.value for variable in model.trainable_variables]
            other = [variable.value for variable in model.non_trainable_variables]

            def function(*given: Any) -> list[Any]:
                outputs, _ = model.stateless_call(trainable, other, arranged(work, given), training=False)
                return flat(outputs)

            exported = self.exporting.export(self.jax.jit(function))(*self._types(work))
            return bytes(exported.serialize())

    def _types(self, work: Work) -> list[Any]:
        """The types of the inputs; an open size has a name."""
        shapes = declared_shapes(work)
        scope = self.exporting.SymbolicScope()
        types = []
        for index, tensor in enumerate(work.inputs):
            names = [f"d{index}_{axis}" if size is None else str(size) for axis, size in enumerate(shapes[index])]
            shape = self.exporting.symbolic_shape(f"({', '.join(names)},)", scope=scope) if names else ()
            types.append(self.jax.ShapeDtypeStruct(shape, dtype_of(tensor.dtype)))
        return types

    def call(self, work: Work, artefact: bytes) -> list[WireTensor]:
        work.enter("deserialize")
        with work.library():
            set_jax_bits(work.graph)  # the file may come from another child
            exported = self.exporting.deserialize(bytearray(artefact))
        work.enter("run")
        for arrays in runs(work):
            with work.library():
                results = [(value.dtype.name, self.jax.device_get(value)) for value in exported.call(*arrays)]
        return [to_wire(value, dtype) for dtype, value in results]
