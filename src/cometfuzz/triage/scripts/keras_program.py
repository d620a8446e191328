"""A case as a program on Keras: the model, its data, and how a route runs it."""

from collections.abc import Mapping
from dataclasses import replace

from cometfuzz.catalogue.data import Data
from cometfuzz.ir.case import PLAIN, Manner
from cometfuzz.ir.graph import Graph
from cometfuzz.routes import Route
from cometfuzz.routes.calls import needs_64_bits
from cometfuzz.routes.forms import ANY_BATCH
from cometfuzz.routes.libraries import TENSORFLOW
from cometfuzz.triage.scripts.dialects import Dialect, dialect_of
from cometfuzz.triage.scripts.engines import Situation, engine_of
from cometfuzz.triage.scripts.keras_code import Writer
from cometfuzz.triage.scripts.pieces import KERAS, TF, Program, run_before

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


def keras_program(graph: Graph, data: Data, route: Route, variant: int = 0, manner: Manner = PLAIN) -> Program:
    """The program of a case on a route, written in one of VARIANTS ways."""
    dialect = dialect_of(route)
    any_batch = route.steps[0].call == ANY_BATCH
    writer = Writer(dialect, graph, data, variant in FULL, any_batch, manner)
    model = writer.model()
    kinds = [(node.id, node.outputs[0].shape, node.outputs[0].dtype) for node in graph.inputs]
    engine = run_before(engine_of(Situation(route, writer, variant)), manner, kinds, writer.data_names)
    backend = dialect.backend or "tensorflow"
    statement, version = _imported(backend)
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
        source = (writer.results_of(f"model({writer.arranged(writer.data_names)}, training=False)"), results)
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


def _imported(backend: str) -> tuple[str, str]:
    """The statement that imports a backend, and the expression of its version."""
    if backend == TENSORFLOW.name:
        return "import tensorflow as tf", "tf.__version__"
    if backend == "numpy":  # which every script imports so
        return "import numpy as np", "np.__version__"
    return f"import {backend}", f"{backend}.__version__"


def _environ(dialect: Dialect, graph: Graph) -> Mapping[str, str]:
    """Environment variables with their values as expressions."""
    found = {}
    if dialect.backend:
        found["KERAS_BACKEND"] = f'"{dialect.backend}"'
    if dialect.backend == "jax" and needs_64_bits(graph):
        found["JAX_ENABLE_X64"] = '"1"'
    if dialect.backend == "mxnet":
        found["KERAS_HOME"] = "tempfile.mkdtemp()"
    return found


def _settings(dialect: Dialect, graph: Graph) -> tuple[str, ...]:
    if dialect.layer_dtypes:
        return ()
    floats = [kind.dtype for node in graph.nodes for kind in node.outputs if kind.is_float]
    return (f'keras.backend.set_floatx("{floats[0]}")',) if floats and floats[0] != "float32" else ()
