"""How a script runs a Keras model on the way of a route: plainly, traced, saved, or through a converter.

The second step of a route names one of these functions, or one of another package, as its `engine`.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from cometfuzz.catalogue.augmentation import TRAINS_UNLESS_TOLD
from cometfuzz.errors import NoScript
from cometfuzz.ir.case import Manner
from cometfuzz.routes import Route
from cometfuzz.routes.handing import opset_of
from cometfuzz.triage.scripts.keras_code import Writer, one_or_list
from cometfuzz.triage.scripts.openvino_engines import expect_one, on_openvino
from cometfuzz.triage.scripts.pieces import ARRAYS, KERAS, METADATA, TF, Engine
from cometfuzz.triage.scripts.readers import engine_reading, written
from cometfuzz.triage.scripts.text import wrap


@dataclass(frozen=True)
class Situation:
    """What an engine looks at. `variant` counts the ways to write the same: 0 is the shortest."""

    route: Route
    writer: Writer
    variant: int = 0

    @property
    def given(self) -> str:
        """The model's inputs as one argument."""
        return self.writer.arranged(self.writer.data_names)

    @property
    def manner(self) -> Manner:
        return self.writer.manner

    @property
    def parameters(self) -> tuple[str, str]:
        """The parameters of a function that takes the inputs one by one, and what it gives to the model."""
        count = len(self.writer.data_names)
        if self.manner.named:
            return "*given", self.writer.arranged([f"given[{index}]" for index in range(count)])
        return ("*given", "list(given)") if count > 1 else ("given", "given")

    @property
    def several(self) -> bool:
        """Whether the model has several inputs."""
        return len(self.writer.data_names) > 1

    @property
    def given_to_torch(self) -> str:
        """The model's inputs as one argument of PyTorch's tensors."""
        return self.writer.arranged([f"torch.from_numpy({name})" for name in self.writer.data_names])

    @property
    def outputs(self) -> int:
        return len(self.writer.graph.outputs)

    def by_name(self, form: str) -> str:
        """The inputs as a dictionary, with names as the model has them in some form."""
        names = ", ".join(self.writer.data_names)
        key = "tensor.name" if form == "{}" else f'f"{form.format("{tensor.name}")}"'
        if not self.several:
            return f"[{names}]"
        return f"{{{key}: value for tensor, value in zip(model.inputs, [{names}], strict=True)}}"

    @property
    def input_names(self) -> list[str]:
        """The names that inputs get in a converted file."""
        return [name.replace("data", "x") for name in self.writer.data_names]

    @property
    def single(self) -> bool:
        return len(self.writer.graph.outputs) == 1

    def option(self, step: str, name: str) -> str:
        return next(each.options[name] for each in self.route.steps if each.name == step)

    def opset(self, step: str) -> int:
        return opset_of(next(each.options for each in self.route.steps if each.name == step), self.manner.opset)

    def specs(self, named: bool) -> str:
        """The inputs' types in TensorFlow's words."""
        return ", ".join(
            f'tf.TensorSpec({self.manner.shape(node.id, node.outputs[0].shape)}, "{node.outputs[0].dtype}"'
            + (f', name="{name}")' if named else ")")
            for node, name in zip(self.writer.graph.inputs, self.input_names, strict=True)
        )


def _mode(situation: Situation) -> str:
    """What a call says of training: nothing, unless some layer would take silence for a yes."""
    trains = any(node.layer in TRAINS_UNLESS_TOLD for node in situation.writer.graph.nodes)
    return ", training=False" if trains else ""


def plainly(situation: Situation) -> Engine:
    operations, backend = situation.writer.dialect.operations, situation.writer.dialect.backend
    if operations != "keras.ops":
        plain = not operations
        return Engine(f"model{'.predict_on_batch' * plain}({situation.given})", ARRAYS if plain else TF)
    if backend == "jax" and situation.variant % 2:
        weights = "model.trainable_variables, model.non_trainable_variables"
        lines = wrap(f"compiled = jax.jit(lambda given: model.stateless_call({weights}, given{_mode(situation)})[0])")
        return Engine(
            situation.writer.results_of(f"compiled({situation.given})"), KERAS, pieces=(("run", tuple(lines)),)
        )
    return Engine(situation.writer.results_of(f"model({situation.given}{_mode(situation)})"), KERAS)


def predicted(situation: Situation) -> Engine:
    """In batches: all rows but one, then that one."""
    rows = situation.writer.graph.inputs[0].outputs[0].shape[0]
    return Engine(f"model.predict({situation.given}, batch_size={max(1, rows - 1)}, verbose=0)", ARRAYS)


def quantised_to_int8(situation: Situation) -> Engine:
    return _quantised(situation, "int8")


def quantised_to_float8(situation: Situation) -> Engine:
    return _quantised(situation, "float8")


def _quantised(situation: Situation, to: str) -> Engine:
    """A copy of the model, quantised."""
    lines = (
        "quantised = keras.models.clone_model(model)",
        "quantised.set_weights(model.get_weights())",
        f'quantised.quantize("{to}")',
    )
    call = situation.writer.results_of(f"quantised({situation.given}{_mode(situation)})")
    return Engine(call, KERAS, pieces=(("quantise", lines),))


def traced(situation: Situation, options: str = "") -> Engine:
    parameters, given = situation.parameters
    function = f"lambda {parameters}: {situation.writer.results_of(f'model({given}{_mode(situation)})')}"
    lines = [
        f"function = tf.function({function}{options})",
        *wrap(f"traced = function.get_concrete_function({situation.specs(named=False)})"),
    ]
    tensors = ", ".join(
        f'tf.constant({name}, "{node.outputs[0].dtype}")'
        for name, node in zip(situation.writer.data_names, situation.writer.graph.inputs, strict=True)
    )
    return Engine(f"traced({tensors})", TF, ("import tensorflow as tf",), pieces=(("trace", tuple(lines)),))


def compiled(situation: Situation) -> Engine:
    return traced(situation, ", jit_compile=True")


def keras_file(situation: Situation) -> Engine:
    return _through_file(situation, "model.keras", "saving")


def hdf5_file(situation: Situation) -> Engine:
    return _through_file(situation, "model.h5", "models")


def _through_file(situation: Situation, name: str, module: str) -> Engine:
    path = f'path = os.path.join(tempfile.mkdtemp(), "{name}")'
    return Engine(
        situation.writer.results_of(f"loaded({situation.given})"),
        KERAS,
        standard=("import os", "import tempfile"),
        pieces=(
            ("save", (path, "model.save(path)")),
            ("load", (f"loaded = keras.{module}.load_model(path, compile=False)",)),
        ),
    )


def _signature(situation: Situation) -> str:
    """The sizes of the inputs, as Keras' own export is told them."""
    inputs = situation.writer.graph.inputs
    shapes = [situation.manner.shape(node.id, node.outputs[0].shape) for node in inputs]
    kinds = [(node.outputs[0].dtype, shape) for node, shape in zip(inputs, shapes, strict=True)]
    given = situation.writer.arranged([f'keras.InputSpec("{dtype}", {shape})' for dtype, shape in kinds])
    return f"input_signature=[{given}]"


def saved_model(situation: Situation) -> Engine:
    told = f", {_signature(situation)}" if situation.route.steps[1].call == "save_with_sizes" else ""
    export = wrap(f'model.export(folder, format="tf_saved_model", verbose=False{told})')
    made = ("export", ("folder = tempfile.mkdtemp()", *export))
    if situation.route.steps[-1].name == "openvino-saved":
        return on_openvino("core.read_model(folder)", situation.by_name("{}"), situation.outputs, (made,), named=True)
    return Engine(
        situation.writer.results_of(f"loaded.serve({situation.given})"),
        TF,
        ("import tensorflow as tf",),
        standard=("import tempfile",),
        pieces=(
            made,
            ("load", ("loaded = tf.saved_model.load(folder)",)),
        ),
    )


def tf2onnx(situation: Situation) -> Engine:
    specs, opset = situation.specs(named=True), situation.opset("tf2onnx")
    if situation.manner.exporter == "export":
        lines = [
            'path = os.path.join(tempfile.mkdtemp(), "model.onnx")',
            f'model.export(path, format="onnx", verbose=False, opset_version={opset})',
            "proto = onnx.load(path)",
        ]
    elif situation.manner.exporter or (situation.variant % 2 == 0 and not situation.manner.named):
        lines = wrap(f"proto, _ = tf2onnx.convert.from_keras(model, [{specs}], opset={opset})")
    else:
        names = ", ".join(f'"output_{index:03}"' for index in range(len(situation.writer.graph.outputs)))
        parameters, given = situation.parameters
        results = situation.writer.results_of(f"model({given})")
        results = f"[{results}]" if situation.single else results
        lines = [
            f"names = [{names}]",
            f"function = tf.function(lambda {parameters}: dict(zip(names, {results}, strict=True)), autograph=False)",
            *wrap(f"proto, _ = tf2onnx.convert.from_function(function, [{specs}], opset={opset})"),
        ]
    lines.append("onnx.checker.check_model(proto, full_check=True)")
    imports = ("import tensorflow as tf", "import tf2onnx")
    engine = _through_onnx(situation, "tf2onnx", lines, imports, "tf2onnx")
    return replace(engine, standard=(*engine.standard, "import os", "import tempfile"))


def in_torch(names: Sequence[str]) -> str:
    """Arrays as tensors of PyTorch, one argument each."""
    return ", ".join(f"torch.from_numpy({name})" for name in names)


def torch_module(situation: Situation) -> tuple[list[str], str]:
    """Lines that make a module of the model, if it is none that takes its inputs one by one, and the module's name."""
    if not situation.several and not situation.manner.named:
        return [], "model"
    parameters, given = situation.parameters
    results = situation.writer.results_of(f"model({given}{_mode(situation)})")
    lines = ["class Flat(torch.nn.Module):", f"    def forward(self, {parameters}):", f"        return {results}"]
    return [*lines, "flat = Flat()", "flat.model = model  # so that its weights are parameters"], "flat"


def torch_onnx(situation: Situation) -> Engine:
    names = ", ".join(f'"{name}"' for name in situation.input_names)
    tensors = in_torch(situation.writer.data_names)
    lines, module = torch_module(situation)
    opset = situation.opset("torch.onnx")
    opened = [situation.manner.opened.get(node.id, ()) for node in situation.writer.graph.inputs]
    axes = {name: list(each) for name, each in zip(situation.input_names, opened, strict=True) if each}
    dynamic = f", dynamic_axes={json.dumps(axes)}" if axes else ""
    export = f"torch.onnx.export({module}, ({tensors},), file, input_names=[{names}]"
    lines += ["file = io.BytesIO()", *wrap(f"{export}, opset_version={opset}{dynamic}, dynamo=False)")]
    lines.append("proto = onnx.load_from_string(file.getvalue())")
    engine = _through_onnx(situation, "torch.onnx", lines, ("import torch",), "torch")
    return replace(engine, standard=(*engine.standard, "import io"))


def _through_onnx(
    situation: Situation, stage: str, lines: list[str], imports: tuple[str, ...], converter: str
) -> Engine:
    feeds = dict(zip(situation.input_names, situation.writer.data_names, strict=True))
    reader = engine_reading(situation.route.steps[-1], feeds, situation.single)
    return replace(
        reader,
        imports=(*imports, *reader.imports),
        versions={converter: f"{converter}.__version__", **reader.versions},
        pieces=((stage, tuple(lines)), *reader.pieces),
    )


def litert(situation: Situation) -> Engine:
    convert, content = ["content = tf.lite.TFLiteConverter.from_keras_model(model).convert()"], "model_content=content"
    if situation.manner.exporter == "export":
        convert = ['path = os.path.join(tempfile.mkdtemp(), "model.tflite")']
        convert, content = [*convert, 'model.export(path, format="litert", verbose=False)'], "model_path=path"
    if situation.route.steps[-1].name == "openvino-tflite":
        expect_one("a LiteRT file", situation.outputs)
        network = "core.read_model(path)" if "path" in content else "core.read_model(content)"
        given = situation.by_name("serving_default_{}:0")
        return on_openvino(network, given, situation.outputs, (("convert", tuple(convert)),))
    load = (
        f"interpreter = Interpreter({content})",
        *(["interpreter.allocate_tensors()"] if not situation.manner.opened else []),
        "runner = interpreter.get_signature_runner()",
    )
    if len(situation.writer.data_names) > 1:
        names = "names = [tensor.name for tensor in model.inputs]"
        outputs = f"runner(**dict(zip(names, {one_or_list(situation.writer.data_names)}, strict=True)))"
    else:
        names = "name = next(iter(runner.get_input_details()))"
        outputs = f"runner(**{{name: {situation.writer.data_names[0]}}})"
    many = len(situation.writer.graph.outputs) > 10  # output_10 comes after output_2
    numbered = ", key=lambda item: (len(item[0]), item)" if many else ""
    call = f"[v for _, v in sorted({outputs}.items(){numbered})]"
    if situation.single:
        call = f"next(iter({outputs}.values()))"
    return Engine(
        call,
        ARRAYS,
        ("import tensorflow as tf", "from ai_edge_litert.interpreter import Interpreter"),
        standard=(METADATA, "import os", "import tempfile"),
        versions={"ai-edge-litert": 'version("ai-edge-litert")'},
        pieces=(("convert", tuple(convert)), ("load", load), ("run", (names,))),
    )


def jax_exported(situation: Situation) -> Engine:
    """Through jax.export, as bytes and back."""
    if situation.manner.opened:
        raise NoScript("expected a model of fixed sizes, which jax.export is given; received open ones")
    weights = "model.trainable_variables, model.non_trainable_variables"
    parameters, given = situation.parameters
    call = situation.writer.results_of(f"model.stateless_call({weights}, {given}{_mode(situation)})[0]")
    kinds = [node.outputs[0] for node in situation.writer.graph.inputs]
    types = ", ".join(f'jax.ShapeDtypeStruct({kind.shape}, "{kind.dtype}")' for kind in kinds)
    export = [*wrap(f"function = jax.jit(lambda {parameters}: {call})")]
    export += wrap(f"content = jax.export.export(function)({types}).serialize()")
    data = ", ".join(
        f'jax.numpy.asarray({name}, "{kind.dtype}")'
        for name, kind in zip(situation.writer.data_names, kinds, strict=True)
    )
    return Engine(
        f"exported.call({data})",
        KERAS,
        ("import jax", "import jax.export"),
        pieces=(
            ("jax.export", tuple(export)),
            ("deserialize", ("exported = jax.export.deserialize(content)",)),
        ),
    )


def openvino_export(situation: Situation) -> Engine:
    """By Keras' own export to OpenVINO's files."""
    lines = (
        'path = os.path.join(tempfile.mkdtemp(), "model.xml")',
        *wrap(f'model.export(path, format="openvino", verbose=False, {_signature(situation)})'),
    )
    data = f"[{', '.join(situation.writer.data_names)}]"
    return on_openvino("core.read_model(path)", data, situation.outputs, (("export", lines),))


def engine_of(situation: Situation) -> Engine:
    """How a route runs the model that its first step has built; NoScript where nobody has written that."""
    if len(situation.route.steps) < 2:
        raise NoScript(f"expected a route that builds a model, then runs it; received route={situation.route.name!r}")
    step = situation.route.steps[1]
    engine: Engine = written(step, step.engine)(situation)
    return engine
