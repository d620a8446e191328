"""Keras 3 on one of its backends: builds a graph as a functional model and runs it in inference mode."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from cometfuzz.execution.protocol import WireTensor
from cometfuzz.ir.graph import INPUT, Edge, Graph, Inner, Node, Params
from cometfuzz.ir.types import TensorType
from cometfuzz.plugins import builder_of
from cometfuzz.routes import QUIET, Group, Route, Stage, Step, Work
from cometfuzz.routes.calls import CALL_PARAMS, call_layer, flat
from cometfuzz.routes.tensors import to_array, to_wire


def _group(name: str, backend: str, **environ: str) -> Group:
    return Group(name, "main", {**QUIET, "KERAS_BACKEND": backend, **environ})


TF = _group("tf", "tensorflow")
TORCH = _group("torch", "torch")
JAX = _group("jax", "jax", JAX_ENABLE_X64="1", JAX_PLATFORMS="cpu")


def _steps(group: Group) -> tuple[Step, Step]:
    backend = group.environ["KERAS_BACKEND"]
    stages = (Stage("build", "keras"),), (Stage("run", backend),)
    options = {"backend": backend}
    return (
        Step(f"keras-{group.name}", group, __name__, "build", stages[0], options, live=True),
        Step("run", group, __name__, "run", stages[1], options),
    )


BUILD_TF, _RUN_TF = _steps(TF)
BUILD_TORCH, _RUN_TORCH = _steps(TORCH)
KERAS_TF = Route("keras-tf", "Keras 3 on TensorFlow", "keras3", (BUILD_TF, _RUN_TF))
KERAS_TORCH = Route("keras-torch", "Keras 3 on PyTorch", "keras3", (BUILD_TORCH, _RUN_TORCH))
KERAS_JAX = Route("keras-jax", "Keras 3 on JAX", "keras3", _steps(JAX))


def start(options: Mapping[str, str]) -> "KerasSession":
    """Import Keras; KERAS_BACKEND is already set by the group's environment variables."""
    import keras

    if keras.__version__.startswith("2."):  # in an older environment
        return import_module("cometfuzz.routes.keras2").start({"package": "keras"})  # type: ignore[no-any-return]
    return KerasSession(keras, options["backend"])


@dataclass(frozen=True)
class Built:
    """A model with its weights set: what the steps after `build` take."""

    layers: Mapping[str, Any]
    used: Any

    @property
    def model(self) -> Any:
        """The model as new: what an earlier step left behind in stateful layers is gone."""
        for layer in self.layers.values():
            if getattr(layer, "stateful", False):
                layer.reset_states()
        return self.used


class KerasSession:
    """Serves graphs on one backend; a fresh model for each, so no state survives."""

    def __init__(self, keras: Any, backend: str) -> None:
        self.keras, self.backend = keras, backend
        self.ops = getattr(keras, "ops", None)
        if backend == "torch":
            import torch

            torch.set_num_threads(1)
            torch.use_deterministic_algorithms(True, warn_only=True)

    def versions(self) -> dict[str, str]:
        backend = __import__(self.backend)
        return {"keras": self.keras.__version__, self.backend: backend.__version__}

    def build(self, work: Work, value: None) -> Built:
        work.enter("build")
        weights = {node: [to_array(tensor) for tensor in tensors] for node, tensors in work.weights.items()}
        with work.library():
            self.forget(work.graph)
        model, layers = self.model(work)
        with work.library():
            for node, arrays in weights.items():
                layers[node].set_weights(arrays)
            for node, layer in layers.items():
                if layer.weights and node not in weights:
                    raise ValueError(f"expected weights for {node}: {[w.shape for w in layer.weights]}")
        return Built(layers, model)

    def run(self, work: Work, built: Built) -> list[WireTensor]:
        work.enter("run")
        arrays = [to_array(tensor) for tensor in work.inputs]
        with work.library():
            given = [self._tensor(array) for array in arrays]
            results = [self._values(value) for value in self._call(built.model, given)]
        return [to_wire(values, dtype) for dtype, values in results]

    def forget(self, graph: Graph) -> None:
        """Reset Keras' global state. Without a full garbage collection, which costs more than most models do."""
        self.keras.utils.set_random_seed(0)
        self.keras.backend.clear_session(free_memory=False)

    def model(self, work: Work) -> tuple[Any, dict[str, Any]]:
        """The functional model, and its layers by node."""
        graph = work.graph
        edges: dict[Edge, Any] = {}
        layers: dict[str, Any] = {}
        for node in graph.nodes:
            given = [edges[edge] for edge in node.inputs]
            dtype = policy(graph, node)
            with work.library():
                if node.layer == INPUT:
                    result = self.input(node.outputs[0], node.id)
                elif node.layer.islower():
                    result = self.utility(node, given[0])
                else:
                    layers[node.id] = self.layer(node.layer, node.params, dtype, node.id)
                    result = call_layer(layers[node.id], node, given)
            results = flat(result)
            check_static_types(node, [self.static_type(value) for value in results])
            edges.update({Edge(node.id, index): value for index, value in enumerate(results)})
        inputs = [edges[Edge(node.id)] for node in graph.inputs]
        with work.library():
            return self.make_model(inputs, [edges[edge] for edge in graph.outputs]), layers

    def make_model(self, inputs: Any, outputs: Any) -> Any:
        return self.keras.Model(inputs, outputs)

    def utility(self, node: Node, x: Any) -> Any:
        return utility(self.ops, node, x)

    def static_type(self, value: Any) -> tuple[str, tuple[int | None, ...]]:
        """What Keras says of a symbolic tensor."""
        return str(getattr(value.dtype, "name", value.dtype)), tuple(value.shape)

    def input(self, kind: TensorType, name: str) -> Any:
        return self.keras.Input(batch_shape=kind.shape, dtype=kind.dtype, name=name)

    def layer(self, name: str, params: Params, dtype: str, node_id: str | None = None) -> Any:
        """A layer object; the layer inside a wrapper is made with the same dtype."""
        arguments = {
            key: self._argument(value, dtype)
            for key, value in params.items()
            if key not in CALL_PARAMS.get(name, ()) and key != "dtype"
        }
        if node_id is not None:
            arguments["name"] = node_id
        return _class(self.keras, name)(**arguments, dtype=dtype)

    def _argument(self, value: Any, dtype: str) -> Any:
        if isinstance(value, Inner):
            return self.layer(value.layer, value.params, dtype)
        if isinstance(value, tuple) and value and isinstance(value[0], Inner):
            return [self.layer(inner.layer, inner.params, dtype) for inner in value]
        if value == "Constant":  # the only initialiser that Keras 3 cannot make by its name alone
            return self.keras.initializers.Constant(0.5)
        return value

    def _call(self, model: Any, given: list[Any]) -> list[Any]:
        if self.backend == "jax":
            import jax

            trainable = [variable.value for variable in model.trainable_variables]
            other = [variable.value for variable in model.non_trainable_variables]
            call = jax.jit(lambda t, n, x: model.stateless_call(t, n, x, training=False)[0])
            result = call(trainable, other, given)
        elif self.backend == "torch":
            import torch

            with torch.no_grad():
                result = model(given, training=False)
        else:
            result = model(given, training=False)
        return list(result) if isinstance(result, list | tuple) else [result]

    def _tensor(self, array: Any) -> Any:
        return self.keras.ops.convert_to_tensor(array, dtype=array.dtype.name)

    def _values(self, value: Any) -> tuple[str, Any]:
        return self.keras.backend.standardize_dtype(value.dtype), self.keras.ops.convert_to_numpy(value)


@cache
def _class(keras: Any, name: str) -> Any:
    """The class of a layer; one that a package from outside adds is made by its builder."""
    build = builder_of(name)
    return getattr(keras.layers, name) if build is None else build(keras)


class StaticTypeMismatch(Exception):
    """Keras' own static inference of a shape or dtype is not what the catalogue predicts."""


def check_static_types(node: Node, seen: list[tuple[str, tuple[int | None, ...]]]) -> None:
    """Hold what Keras says of symbolic tensors against the catalogue: layers built on top of them rely on it."""
    want = [(kind.dtype, kind.shape) for kind in node.outputs]
    fits = len(seen) == len(want) and all(
        dtype == expected_dtype
        and len(shape) == len(expected)
        and all(a in (None, b) for a, b in zip(shape, expected, strict=True))
        for (dtype, shape), (expected_dtype, expected) in zip(seen, want, strict=True)
    )
    if not fits:
        raise StaticTypeMismatch(f"{node.layer}: expected {want}; received {seen}")


def policy(graph: Graph, node: Node) -> str:
    """The dtype in which a layer computes: named by the case, else its output's or input's float, else its output's."""
    kinds = [node.outputs[0], *graph.input_types(node)]
    named = node.params.get("dtype")
    return str(named or next((kind.dtype for kind in kinds if kind.is_float), kinds[0].dtype))


def _dtype_name(x: Any) -> str:
    """The dtype of a tensor of any backend, or of a symbolic one, as the IR names it."""
    return str(getattr(x.dtype, "name", x.dtype)).removeprefix("torch.")


def utility(ops: Any, node: Node, x: Any) -> Any:
    """A utility node in keras.ops."""
    p, shape = node.params, tuple(node.outputs[0].shape)
    if node.layer == "cast":
        if p.dtype == "int32":
            x = ops.clip(ops.where(ops.isnan(x), ops.zeros_like(x), x), 0, p.high - 1) if "float" in str(x.dtype) else x
            return ops.clip(ops.cast(x, "int32"), 0, p.high - 1)
        if p.dtype == _dtype_name(x):  # Keras would give back x itself, and with it the mask that a utility drops
            return ops.squeeze(ops.expand_dims(x, 0), 0)
        return ops.not_equal(x, 0) if p.dtype == "bool" else ops.cast(x, p.dtype)
    if node.layer == "pad":
        value = p.value if "float" in str(x.dtype) else int(p.value)
        return ops.pad(x, p.paddings, constant_values=value)
    if node.layer == "crop":
        starts = [before for before, _ in p.crops]
        return ops.slice(x, starts, shape)
    if node.layer == "expand":
        return ops.expand_dims(x, p.axis)
    if node.layer == "squeeze":
        return ops.squeeze(x, p.axis)
    if node.layer == "reshape":
        return ops.reshape(x, p.shape)
    value = 0.0 if p.value == "zero" else float(p.value)
    filled = ops.full_like(x, value)
    if p.elements == "first":
        first = np.zeros(shape, dtype=bool)
        first.reshape(-1)[:1] = True
        filled = ops.where(first, filled, x)
    return ops.cast(filled, node.outputs[0].dtype)  # on PyTorch, Keras makes float32 of float64 here
