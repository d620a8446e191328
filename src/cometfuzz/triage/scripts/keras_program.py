"""A case as a program on Keras: the model, its data, and how a route runs it."""

from collections.abc import Mapping
from dataclasses import replace

from cometfuzz.catalogue.data import Data
from cometfuzz.ir.graph import Graph
from cometfuzz.routes import Route
from cometfuzz.triage.scripts.dialects import Dialect, dialect_of
from cometfuzz.triage.scripts.engines import Situation, engine_of
from cometfuzz.triage.scripts.keras_code import Writer, one_or_list
from cometfuzz.triage.scripts.pieces import KERAS, TF, Program

_BACKENDS = {
    "tensorflow": ("import tensorflow as tf", "tf.__version__"),
    "torch": ("import torch", "torch.__version__"),
    "jax": ("import jax", "jax.__version__"),
    "mxnet": ("import mxnet", "mxnet.__version__"),
}
_OLD_NAMES = (
    "import collections.abc",
    "",
    "for name in collections.abc.__all__:  # where this old Keras looks for them",
    "    setattr(collections, name, getattr(collections.abc, name))",
)
_ONE_THREAD = {"OMP_NUM_THREADS": '"1"', "TF_NUM_INTRAOP_THREADS": '"1"'}
VARIANTS = 5
"""How many ways there are to write a script: short or with every parameter named, each run in one way or another; and
short, on one thread, on which routes run everything."""
FULL = (2, 3)
"""The ways that name every parameter."""


def keras_program(graph: Graph, data: Data, route: Route, variant: int = 0) -> Program:
    """The program of a case on a route, written in one of VARIANTS ways."""
    dialect = dialect_of(route)
    writer = Writer(dialect, graph, data, full=variant in FULL)
    model = writer.model()
    engine = engine_of(Situation(route, writer, variant))
    backend = dialect.backend or "tensorflow"
    statement, version = _BACKENDS[backend]
    keras = "import keras" if dialect.module == "keras" else f"import {dialect.module} as keras"
    label = {"tf_keras": "tf-keras"}.get(dialect.module, "keras")
    standard = ("import tempfile",) if backend == "mxnet" else ()
    engine = replace(
        engine,
        standard=(*engine.standard, *standard),
        imports=(keras, statement, *engine.imports),
        versions={label: "keras.__version__", backend: version, **engine.versions},
        pieces=(("build", (*model.layers, *model.model)), *engine.pieces),
    )
    source = None
    if len(route.steps) > 2 or route.steps[1].name != "run":
        results = KERAS if dialect.operations == "keras.ops" else TF
        source = (f"model({one_or_list(writer.data_names)}, training=False)", results)
    return Program(
        tuple(writer.inputs()),
        engine,
        environ={**_environ(dialect, graph), **(_ONE_THREAD if variant == VARIANTS - 1 else {})},
        always_versions=(label, backend),
        before_imports=_OLD_NAMES if dialect.backend == "mxnet" else (),
        settings=_settings(dialect, graph),
        symbolic=model.outputs,
        symbolic_lines=model.layers,
        source=source,
    )


def _environ(dialect: Dialect, graph: Graph) -> Mapping[str, str]:
    """Environment variables with their values as expressions."""
    found = {}
    if dialect.backend:
        found["KERAS_BACKEND"] = f'"{dialect.backend}"'
    if dialect.backend == "jax" and "float64" in _dtypes(graph):
        found["JAX_ENABLE_X64"] = '"1"'
    if dialect.backend == "mxnet":
        found["KERAS_HOME"] = "tempfile.mkdtemp()"
    return found


def _settings(dialect: Dialect, graph: Graph) -> tuple[str, ...]:
    if dialect.layer_dtypes:
        return ()
    floats = [kind.dtype for node in graph.nodes for kind in node.outputs if kind.is_float]
    return (f'keras.backend.set_floatx("{floats[0]}")',) if floats and floats[0] != "float32" else ()


def _dtypes(graph: Graph) -> set[str]:
    return {kind.dtype for node in graph.nodes for kind in node.outputs}
