"""Builds a graph as a Keras 3 functional model on one of its backends and runs it in inference mode."""

import gc
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cometfuzz.execution.protocol import WireTensor
from cometfuzz.ir.graph import INPUT, Edge, Graph, Inner, Node, Params
from cometfuzz.ir.types import TensorType
from cometfuzz.routes.calls import CALL_PARAMS, call_layer, flat

LARGE_BYTES = 2**25
"""Weights and inputs of a model that is too large to wait for the garbage collector's own time."""


def start(options: Mapping[str, str]) -> "KerasSession":
    """Import Keras; KERAS_BACKEND is already set by the route's environment variables."""
    import keras

    return KerasSession(keras, options["backend"])


class KerasSession:
    """Serves graphs on one backend; a fresh model for each, so no state survives."""

    def __init__(self, keras: Any, backend: str) -> None:
        import ml_dtypes

        self.keras, self.backend, self.bfloat16 = keras, backend, np.dtype(ml_dtypes.bfloat16)
        self.ops = getattr(keras, "ops", None)
        self._last_was_large = False
        if backend == "torch":
            import torch

            torch.set_num_threads(1)

    def versions(self) -> dict[str, str]:
        backend = __import__(self.backend)
        return {"keras": self.keras.__version__, self.backend: backend.__version__}

    def run(
        self,
        graph: Graph,
        inputs: Sequence[str],
        weights: Sequence[tuple[str, int]],
        tensors: Sequence[WireTensor],
        enter: Callable[[str], None],
    ) -> list[WireTensor]:
        enter("build")
        self.keras.utils.set_random_seed(0)
        self.forget()
        if self._last_was_large:
            gc.collect()
        self._last_was_large = sum(len(tensor.data) for tensor in tensors) > LARGE_BYTES
        arrays = [self._array(tensor) for tensor in tensors]
        model, layers = self.build(graph)
        at = len(inputs)
        for node, count in weights:
            layers[node].set_weights(arrays[at : at + count])
            at += count
        for node in layers:
            if layers[node].weights and node not in dict(weights):
                raise ValueError(f"expected weights for {node}: {[w.shape for w in layers[node].weights]}")
        enter("run")
        given = [self._tensor(array) for array in arrays[: len(inputs)]]
        return [self._wire(value) for value in self._call(model, given)]

    def forget(self) -> None:
        """Reset Keras' global state. Without a full garbage collection, which costs more than most models do."""
        self.keras.backend.clear_session(free_memory=False)

    def build(self, graph: Graph) -> tuple[Any, dict[str, Any]]:
        """The functional model, and its layers by node."""
        edges: dict[Edge, Any] = {}
        layers: dict[str, Any] = {}
        for node in graph.nodes:
            given = [edges[edge] for edge in node.inputs]
            if node.layer == INPUT:
                result = self.input(node.outputs[0], node.id)
            elif node.layer.islower():
                result = utility(self.ops, node, given[0])
            else:
                layers[node.id] = self.layer(node.layer, node.params, policy(graph, node), node.id)
                result = call_layer(layers[node.id], node, given)
            results = flat(result)
            check_static_types(node, results)
            edges.update({Edge(node.id, index): value for index, value in enumerate(results)})
        inputs = [edges[Edge(node.id)] for node in graph.inputs]
        return self.keras.Model(inputs, [edges[edge] for edge in graph.outputs]), layers

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
        return getattr(self.keras.layers, name)(**arguments, dtype=dtype)

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

    def _array(self, tensor: WireTensor) -> Any:
        dtype = self.bfloat16 if tensor.dtype == "bfloat16" else np.dtype(tensor.dtype)
        return np.frombuffer(tensor.data, dtype=dtype).reshape(tensor.shape).copy()

    def _tensor(self, array: Any) -> Any:
        return self.keras.ops.convert_to_tensor(array, dtype=array.dtype.name)

    def _values(self, value: Any) -> tuple[str, Any]:
        return self.keras.backend.standardize_dtype(value.dtype), self.keras.ops.convert_to_numpy(value)

    def _wire(self, value: Any) -> WireTensor:
        dtype, values = self._values(value)
        array = np.asarray(values)
        if dtype == "bfloat16":
            array = array.astype(self.bfloat16)
        return WireTensor(dtype, tuple(array.shape), np.ascontiguousarray(array).tobytes())


class StaticTypeMismatch(Exception):
    """Keras' own static inference of a shape or dtype is not what the catalogue predicts."""


def check_static_types(node: Node, results: Sequence[Any]) -> None:
    """Hold what Keras says of a symbolic tensor against the catalogue: layers built on top of it rely on it."""
    seen = [(str(getattr(value.dtype, "name", value.dtype)), tuple(value.shape)) for value in results]
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


def utility(ops: Any, node: Node, x: Any) -> Any:
    """A utility node in keras.ops."""
    p, shape = node.params, tuple(node.outputs[0].shape)
    if node.layer == "cast":
        if p.dtype == "int32":
            x = ops.clip(ops.where(ops.isnan(x), ops.zeros_like(x), x), 0, p.high - 1) if "float" in str(x.dtype) else x
            return ops.clip(ops.cast(x, "int32"), 0, p.high - 1)
        return ops.not_equal(x, 0) if p.dtype == "bool" and "bool" not in str(x.dtype) else ops.cast(x, p.dtype)
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
    if p.elements == "all":
        return ops.full_like(x, value)
    first = np.zeros(shape, dtype=bool)
    first.reshape(-1)[:1] = True
    return ops.where(first, ops.full_like(x, value), x)
