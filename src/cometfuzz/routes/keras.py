"""Keras 3 on one of its backends: builds a graph as a functional model and runs it in inference mode."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from cometfuzz.compat import zip_strictly
from cometfuzz.ir.graph import INPUT, Edge, Graph, Inner, Node, Params, is_operator, is_utility
from cometfuzz.ir.types import POLICY, TensorType
from cometfuzz.plugins import builder_of
from cometfuzz.protocol import WireTensor
from cometfuzz.routes import QUIET, Group, Route, Stage, Step, Work, libraries
from cometfuzz.routes.calls import (
    CALL_PARAMS,
    NOTHING,
    WITHOUT_DTYPE,
    call_layer,
    call_operator,
    explicit_arguments,
    flat,
    needs_64_bits,
    policy,
)
from cometfuzz.routes.forms import keras_forms
from cometfuzz.routes.handing import arranged, output_name, parts, runs
from cometfuzz.routes.keras_types import ComputedTypeMismatch, Open, check_computed_shapes, check_static_types, fits
from cometfuzz.routes.keras_utilities import utility
from cometfuzz.routes.offers import answer, without_idle
from cometfuzz.routes.switches import JAXS, TENSORFLOWS, TORCHS
from cometfuzz.routes.tensors import to_array, to_wire
from cometfuzz.routes.torch_tensors import be_deterministic


def group_of(name: str, backend: str, **environ: str) -> Group:
    """The child that serves Keras 3 on a backend."""
    return Group(name, "main", {**QUIET, "KERAS_BACKEND": backend, **environ})


TF = group_of("tf", "tensorflow")
TORCH = group_of("torch", "torch")
JAX = group_of("jax", "jax", JAX_PLATFORMS="cpu")


PLAINLY = "cometfuzz.triage.scripts.engines:plainly"
"""How a script runs a model that nothing converts."""


def backend_steps(
    group: Group, backend: str, owner: libraries.Library, build_s: float, run_s: float
) -> tuple[Step, Step]:
    """Build and run on a backend, with what either takes; owner: who is to blame for the run."""
    stages = (Stage("build", libraries.KERAS),), (Stage("run", owner),)
    options, name = {"backend": backend}, group.name.removeprefix("keras-")
    return (
        Step(f"keras-{name}", group, __name__, "build", stages[0], options, live=True, cpu_s=build_s),
        Step("run", group, __name__, "run", stages[1], options, engine=PLAINLY, cpu_s=run_s),
    )


BUILD_TF, _RUN_TF = backend_steps(TF, "tensorflow", libraries.TENSORFLOW, 0.15, 0.05)
BUILD_TORCH, _RUN_TORCH = backend_steps(TORCH, "torch", libraries.TORCH, 0.15, 0.02)
KERAS_TF = Route(
    "keras-tf",
    "Keras 3 on TensorFlow",
    "keras3",
    (BUILD_TF, _RUN_TF),
    turn="base",
    fuses=False,
    known_as="Keras on TensorFlow",
    forms=keras_forms(BUILD_TF, _RUN_TF),
    switches=TENSORFLOWS,
)
KERAS_TORCH = Route(
    "keras-torch",
    "Keras 3 on PyTorch",
    "keras3",
    (BUILD_TORCH, _RUN_TORCH),
    turn="base",
    fuses=False,
    known_as="Keras on PyTorch",
    forms=keras_forms(BUILD_TORCH, _RUN_TORCH),
    switches=TORCHS,
)
BUILD_JAX, _RUN_JAX = backend_steps(JAX, "jax", libraries.JAX, 0.3, 0.4)
KERAS_JAX = Route(
    "keras-jax",
    "Keras 3 on JAX",
    "keras3",
    (BUILD_JAX, _RUN_JAX),
    forms=keras_forms(BUILD_JAX, _RUN_JAX),
    switches=JAXS,
)


def start(options: Mapping[str, str]) -> KerasAdapter:
    """Import Keras; KERAS_BACKEND is already set by the group's environment variables."""
    import keras

    if keras.__version__.startswith("2."):  # in an older environment
        return import_module("cometfuzz.routes.keras2").start({"package": "keras"})  # type: ignore[no-any-return]
    return KerasAdapter(keras, options["backend"])


def set_jax_bits(graph: Graph) -> None:
    """Let JAX have 64 bits for a graph that needs them, for all that is done with it: what JAX compiles and keeps
    depends on it."""
    import jax

    jax.config.update("jax_enable_x64", needs_64_bits(graph))


@dataclass(frozen=True)
class Built:
    """A model with its weights set: what the steps after `build` take."""

    layers: Mapping[str, Any]
    used: Any

    @property
    def model(self) -> Any:
        """The model as new: what an earlier step left behind in stateful layers is gone."""
        self.reset()
        return self.used

    def reset(self) -> None:
        """Let stateful layers forget what they have seen."""
        for layer in self.layers.values():
            if getattr(layer, "stateful", False):
                layer.reset_states()


class KerasAdapter:
    """Serves graphs on one backend; a fresh model for each, so no state survives."""

    def __init__(self, keras: Any, backend: str) -> None:
        self.keras, self.backend = keras, backend
        self.ops = getattr(keras, "ops", None)
        if backend == "torch":
            import torch

            torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
            be_deterministic(torch)

    def versions(self) -> dict[str, str]:
        backend = __import__(self.backend)
        return {"keras": self.keras.__version__, self.backend: backend.__version__.split("-")[0]}

    def build(self, work: Work, value: None) -> Built:
        return self._build(work, Building())

    def build_open(self, work: Work, value: None) -> Built:
        """The same model for a batch of any size."""
        return self._build(work, Building(any_batch=True, checked=False))

    def build_unchecked(self, work: Work, value: None) -> Built:
        """The same model, whatever Keras says of its symbolic tensors."""
        return self._build(work, Building(checked=False))

    def build_int8(self, work: Work, value: None) -> Built:
        """The same model, with what Keras can have in int8 in int8."""
        return self._quantised(work, "int8")

    def build_float8(self, work: Work, value: None) -> Built:
        return self._quantised(work, "float8")

    def _quantised(self, work: Work, to: str) -> Built:
        built = self._build(work, Building(checked=False))
        if not hasattr(built.used, "quantize"):
            raise NotImplementedError("this Keras cannot quantise a model")
        with work.library():
            built.used.quantize(to)
        return built

    def _build(self, work: Work, building: Building) -> Built:
        work.enter("build")
        weights = {node: [to_array(tensor) for tensor in tensors] for node, tensors in work.weights.items()}
        with work.library():
            self.forget(work.graph)
        with self._compiling_little():
            model, layers = self.model(work, building)
        with work.library():
            for node, arrays in weights.items():
                layers[node].set_weights(arrays)
            for node, layer in layers.items():
                if layer.weights and node not in weights and not work.graph.by_id[node].is_broken:
                    raise ValueError(f"expected weights for {node}: {[w.shape for w in layer.weights]}")
        return Built(layers, model)

    @contextlib.contextmanager
    def _compiling_little(self) -> Iterator[None]:
        """While a model is built on JAX, which compiles every initialiser for every shape, XLA does not optimise.

        Nothing of the model itself is compiled there.
        """
        if self.backend != "jax":
            yield
            return
        import jax

        jax.config.update("jax_disable_most_optimizations", True)
        try:
            yield
        finally:
            jax.config.update("jax_disable_most_optimizations", False)

    def run(self, work: Work, built: Built) -> list[WireTensor]:
        work.enter("run")
        for arrays in runs(work):
            with work.library():
                given = [self._tensor(array) for array in arrays]
                results = [self._values(value) for value in self._call(built.model, arranged(work, given))]
        if work.graph.nodes[-1].is_broken:
            with work.library():
                said = [self.static_type(value)[1] for value in built.model.outputs]
            check_computed_shapes(work.graph.nodes[-1], said, [values.shape for _, values in results])
        return [to_wire(values, dtype) for dtype, values in results]

    def run_typed(self, work: Work, built: Built) -> list[WireTensor]:
        """The outputs, if they are of the types that Keras has told of them before anything ran."""
        results = self.run(work, built)
        for edge, symbolic, seen in zip_strictly(work.graph.outputs, built.used.outputs, results):
            dtype, shape = self.static_type(symbolic)
            if dtype != seen.dtype or not fits(shape, seen.shape):
                layer = work.graph.by_id[edge.node].layer
                said, got = f"{dtype}{list(shape)}", f"{seen.dtype}{list(seen.shape)}"
                raise ComputedTypeMismatch(f"{layer}: expected {said}, as its symbolic output says; received {got}")
        return results

    def predict(self, work: Work, built: Built) -> list[WireTensor]:
        """The outputs of `model.predict`, in batches: all rows but one, then that one."""
        work.enter("run")
        arrays = [to_array(tensor) for tensor in work.inputs]
        size = max(1, len(arrays[0]) - 1)
        with work.library():
            given = arranged(work, arrays) if work.manner.named else arrays[0] if len(arrays) == 1 else arrays
            results = flat(built.model.predict(given, batch_size=size, verbose=0))
        return [to_wire(values) for values in results]

    def offer(self, work: Work, value: bytes) -> list[WireTensor]:
        """Whether the library has what a question is about; see `routes/offers.py`."""
        return answer(self, work, value)

    def find(self, name: str) -> Any:
        """The class of a layer or the function of an operator; None if there is none."""
        if not is_operator(name):
            return _class(self.keras, name)
        found = self.ops
        for part in name.split(".")[1:]:
            found = getattr(found, part, None)
        return found

    def layer_of(self, graph: Graph, node: Node) -> Any:
        """The layer object of a node."""
        return self.layer(node.layer, node.params, policy(graph, node), node.id)

    def try_out(self, work: Work, layers: dict[str, Any]) -> None:
        """Call the nodes of a graph, of which some layers are made: operators on symbolic tensors, all on real ones.

        JAX would compile each, for seconds, and to look at layers symbolically costs TensorFlow more than to run them.
        """
        if self.backend == "jax" or is_operator(work.graph.nodes[-1].layer):
            self._grow(work, Building(), work.graph.nodes, {}, layers)
        if self.backend != "jax":
            edges = {}
            for node in work.graph.inputs:
                kind = node.outputs[0]
                value = self._tensor(np.full(kind.shape, 0.5 if kind.is_float else 0.0, dtype="float32"))
                edges[Edge(node.id)] = self.cast(value, kind.dtype)
            nodes = [node for node in work.graph.nodes if node.layer != INPUT]
            self._grow(work, Building(checked=False), nodes, edges, layers)

    def cast(self, value: Any, dtype: str) -> Any:
        return self.keras.ops.cast(value, dtype)

    def forget(self, graph: Graph) -> None:
        """Reset Keras' global state. Without a full garbage collection, which costs more than most models do."""
        if self.backend == "jax":
            set_jax_bits(graph)
        self.keras.utils.set_random_seed(0)
        self.keras.backend.clear_session(free_memory=False)

    def model(self, work: Work, building: Building) -> tuple[Any, dict[str, Any]]:
        """The model in the manner of its case, and its layers by node."""
        graph, manner = work.graph, work.manner
        edges: dict[Edge, Any] = {}
        layers: dict[str, Any] = {}
        if manner.sequential:
            return self._sequential(work, building)
        before, inside, after = parts(graph, manner.inside)
        self._grow(work, building, before, edges, layers)
        if inside:
            self._nest(work, building, inside, edges, layers)
            self._grow(work, building, after, edges, layers)
        inputs = [edges[Edge(node.id)] for node in graph.inputs]
        outputs: Any = [edges[edge] for edge in graph.outputs]
        if manner.named:
            outputs = {output_name(index): value for index, value in enumerate(outputs)}
        with work.library():
            return self.make_model(arranged(work, inputs), outputs), layers

    def _grow(
        self,
        work: Work,
        building: Building,
        nodes: Sequence[Node],
        edges: dict[Edge, Any],
        layers: dict[str, Any],
    ) -> None:
        """Call nodes on what is there of `edges`, and add what they give, and the layers that they are."""
        graph, first_of = work.graph, work.manner.first_of
        for node in nodes:
            given = [edges[edge] for edge in node.inputs]
            with work.library():
                if node.layer == INPUT:
                    shape = work.manner.shape(node.id, node.outputs[0].shape)
                    result = self.input(node.outputs[0], node.id, building.any_batch, shape)
                elif is_operator(node.layer):
                    result = call_operator(self.ops, node, given)
                elif is_utility(node.layer):
                    result = self.utility(node, given[0])
                else:
                    known = layers.get(first_of.get(node.id, node.id))
                    layers[node.id] = known or self.layer_of(graph, node)
                    explicit = self._explicit(graph, node) if work.manner.explicit else NOTHING
                    result = call_layer(layers[node.id], node, given, explicit)
            results = flat(result)
            if building.checked and not node.is_broken:
                check_static_types(node, [self.static_type(value) for value in results])
            edges.update({Edge(node.id, index): value for index, value in enumerate(results)})

    def _explicit(self, graph: Graph, node: Node) -> dict[str, Any]:
        """What a call says though it is so anyway: first states of zeros, a mask of ones."""
        found: dict[str, Any] = {}
        for name, (dtype, *shapes) in explicit_arguments(graph, node).items():
            make = self.keras.ops.ones if name == "mask" else self.keras.ops.zeros
            values = [make(shape, dtype) for shape in shapes]
            found[name] = values[0] if name == "mask" else values
        return found

    def _nest(
        self,
        work: Work,
        building: Building,
        nodes: Sequence[Node],
        edges: dict[Edge, Any],
        layers: dict[str, Any],
    ) -> None:
        """The same for nodes that are a model of their own, which is called as one layer."""
        names = {node.id for node in nodes}
        read = list(dict.fromkeys(edge for node in nodes for edge in node.inputs if edge.node not in names))
        others = [edge for node in work.graph.nodes if node.id not in names for edge in node.inputs]
        given = list(dict.fromkeys(edge for edge in (*others, *work.graph.outputs) if edge.node in names))
        with work.library():
            own = {edge: self.keras.Input(batch_shape=edges[edge].shape, dtype=edges[edge].dtype) for edge in read}
        within = dict(own)
        self._grow(work, building, nodes, within, layers)
        with work.library():
            inner = self.make_model(list(own.values()), [within[edge] for edge in given])
            results = flat(inner([edges[edge] for edge in read]))
        edges.update(zip_strictly(given, results))

    def _sequential(self, work: Work, building: Building) -> tuple[Any, dict[str, Any]]:
        """A row of layers; where more than its last output is wanted, a model on top of it."""
        first, *rest = work.graph.nodes
        shape = work.manner.shape(first.id, first.outputs[0].shape)
        with work.library():
            given = self.input(first.outputs[0], first.id, building.any_batch, shape)
            layers = {n.id: self.layer(n.layer, n.params, policy(work.graph, n), n.id) for n in rest}
            model = self.keras.Sequential([given, *layers.values()])
            for node in rest if building.checked else ():
                check_static_types(node, [self.static_type(layers[node.id].output)])
            if work.graph.outputs != (Edge(rest[-1].id),):
                outputs = [layers[edge.node].output for edge in work.graph.outputs]
                model = self.make_model(model.inputs[0], outputs)
        return model, layers

    def make_model(self, inputs: Any, outputs: Any) -> Any:
        return self.keras.Model(inputs, outputs)

    def utility(self, node: Node, x: Any) -> Any:
        return utility(self.ops, node, x)

    def static_type(self, value: Any) -> tuple[str, tuple[int | None, ...]]:
        """What Keras says of a symbolic tensor."""
        return str(getattr(value.dtype, "name", value.dtype)), tuple(value.shape)

    def input(self, kind: TensorType, name: str, any_batch: bool, shape: Open) -> Any:
        shape = (None, *shape[1:]) if any_batch else shape
        return self.keras.Input(batch_shape=shape, dtype=kind.dtype, name=name)

    def layer(self, name: str, params: Params, dtype: str, node_id: str | None = None) -> Any:
        """A layer object; the layer inside a wrapper is made with the same dtype."""
        arguments = {
            key: self._argument(value, dtype)
            for key, value in params.items()
            if key not in CALL_PARAMS.get(name, ()) and key not in ("dtype", POLICY)
        }
        if node_id is not None:
            arguments["name"] = node_id
        if name not in WITHOUT_DTYPE:
            arguments["dtype"] = dtype
        kind = _class(self.keras, name)
        if kind is None:
            raise AttributeError(f"keras.layers has no {name}")
        return kind(**without_idle(name, kind, arguments))

    def _argument(self, value: Any, dtype: str) -> Any:
        if isinstance(value, Inner):
            return self.layer(value.layer, value.params, dtype)
        if isinstance(value, tuple) and value and isinstance(value[0], Inner):
            return [self.layer(inner.layer, inner.params, dtype) for inner in value]
        if value == "Constant":  # the only initialiser that Keras 3 cannot make by its name alone
            return self.keras.initializers.Constant(0.5)
        return value

    def _call(self, model: Any, given: Any) -> list[Any]:
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
        return flat(result)

    def _tensor(self, array: Any) -> Any:
        return self.keras.ops.convert_to_tensor(array, dtype=array.dtype.name)

    def _values(self, value: Any) -> tuple[str, Any]:
        dtype = self.keras.backend.standardize_dtype(value.dtype)
        if dtype == "bfloat16" and value.shape == ():  # of such a number of TensorFlow's NumPy makes no array
            return dtype, self.keras.ops.convert_to_numpy(self.keras.ops.reshape(value, (1,))).reshape(())
        return dtype, self.keras.ops.convert_to_numpy(value)


@dataclass(frozen=True)
class Building:
    """How a model is built. any_batch: for a batch of any size. checked: what Keras says of symbolic tensors is held
    against the catalogue."""

    any_batch: bool = False
    checked: bool = True


@cache
def _class(keras: Any, name: str) -> Any:
    """The class of a layer, None if there is none; one that a package from outside adds is made by its builder."""
    build = builder_of(name)
    return getattr(keras.layers, name, None) if build is None else build(keras)
