"""How a script runs a Keras model on the way of a route: plainly, traced, saved, or through a converter."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from cometfuzz.errors import NoScript
from cometfuzz.routes import Route
from cometfuzz.triage.scripts.keras_code import Writer, one_or_list
from cometfuzz.triage.scripts.pieces import ARRAYS, KERAS, METADATA, TF, Engine
from cometfuzz.triage.scripts.readers import READERS
from cometfuzz.triage.scripts.text import wrap

_TENSORFLOW = {"tensorflow": "tf.__version__"}


@dataclass(frozen=True)
class Situation:
    """What an engine looks at. `variant` counts the ways to write the same: 0 is the shortest."""

    route: Route
    writer: Writer
    variant: int = 0

    @property
    def given(self) -> str:
        """The model's inputs as one argument."""
        return one_or_list(self.writer.data_names)

    @property
    def input_names(self) -> list[str]:
        """The names that inputs get in a converted file."""
        return [name.replace("data", "x") for name in self.writer.data_names]

    @property
    def single(self) -> bool:
        return len(self.writer.graph.outputs) == 1

    def option(self, step: str, name: str) -> str:
        return next(each.options[name] for each in self.route.steps if each.name == step)

    def specs(self, named: bool) -> str:
        """The inputs' types in TensorFlow's words."""
        kinds = [node.outputs[0] for node in self.writer.graph.inputs]
        return ", ".join(
            f'tf.TensorSpec({tuple(kind.shape)}, "{kind.dtype}"' + (f', name="{name}")' if named else ")")
            for kind, name in zip(kinds, self.input_names, strict=True)
        )


def _keras(situation: Situation) -> Engine:
    operations, backend = situation.writer.dialect.operations, situation.writer.dialect.backend
    if operations != "keras.ops":
        plain = not operations
        return Engine(f"model{'.predict_on_batch' * plain}({situation.given})", ARRAYS if plain else TF)
    if backend == "jax" and situation.variant % 2:
        weights = "model.trainable_variables, model.non_trainable_variables"
        lines = wrap(f"compiled = jax.jit(lambda given: model.stateless_call({weights}, given)[0])")
        return Engine(f"compiled({situation.given})", KERAS, pieces=(("run", tuple(lines)),))
    return Engine(f"model({situation.given})", KERAS)


def _traced(situation: Situation) -> Engine:
    options = ", jit_compile=True" if situation.route.steps[1].name == "tf-xla" else ""
    several = len(situation.writer.data_names) > 1
    function = "lambda *given: model(list(given))" if several else "lambda given: model(given)"
    lines = [
        f"function = tf.function({function}{options})",
        *wrap(f"traced = function.get_concrete_function({situation.specs(named=False)})"),
    ]
    tensors = ", ".join(
        f'tf.constant({name}, "{node.outputs[0].dtype}")'
        for name, node in zip(situation.writer.data_names, situation.writer.graph.inputs, strict=True)
    )
    return Engine(f"traced({tensors})", TF, ("import tensorflow as tf",), pieces=(("trace", tuple(lines)),))


def _keras_file(situation: Situation) -> Engine:
    path = 'path = os.path.join(tempfile.mkdtemp(), "model.keras")'
    return Engine(
        f"loaded({situation.given})",
        KERAS,
        standard=("import os", "import tempfile"),
        pieces=(
            ("save", (path, "model.save(path)")),
            ("load", ("loaded = keras.saving.load_model(path, compile=False)",)),
        ),
    )


def _saved_model(situation: Situation) -> Engine:
    export = 'model.export(folder, format="tf_saved_model", verbose=False)'
    return Engine(
        f"loaded.serve({situation.given})",
        TF,
        ("import tensorflow as tf",),
        standard=("import tempfile",),
        pieces=(
            ("export", ("folder = tempfile.mkdtemp()", export)),
            ("load", ("loaded = tf.saved_model.load(folder)",)),
        ),
    )


def _tf2onnx(situation: Situation) -> Engine:
    specs, opset = situation.specs(named=True), situation.option("tf2onnx", "opset")
    if situation.variant % 2 == 0:
        lines = wrap(f"proto, _ = tf2onnx.convert.from_keras(model, [{specs}], opset={opset})")
    else:
        names = ", ".join(f'"output_{index:03}"' for index in range(len(situation.writer.graph.outputs)))
        given = "list(given)" if len(situation.writer.data_names) > 1 else "given[0]"
        results = f"[model({given})]" if situation.single else f"model({given})"
        lines = [
            f"names = [{names}]",
            f"function = tf.function(lambda *given: dict(zip(names, {results}, strict=True)), autograph=False)",
            *wrap(f"proto, _ = tf2onnx.convert.from_function(function, [{specs}], opset={opset})"),
        ]
    lines.append("onnx.checker.check_model(proto, full_check=True)")
    imports = ("import tensorflow as tf", "import tf2onnx")
    return _through_onnx(situation, "tf2onnx", lines, imports, "tf2onnx")


def _torch_onnx(situation: Situation) -> Engine:
    names = ", ".join(f'"{name}"' for name in situation.input_names)
    tensors = ", ".join(f"torch.from_numpy({name})" for name in situation.writer.data_names)
    lines, module = [], "model"
    if len(situation.writer.data_names) > 1:
        lines = ["class Flat(torch.nn.Module):", "    def forward(self, *given):", "        return model(list(given))"]
        lines += ["flat = Flat()", "flat.model = model  # so that its weights are parameters"]
        module = "flat"
    opset = situation.option("torch.onnx", "opset")
    export = f"torch.onnx.export({module}, ({tensors},), file, input_names=[{names}]"
    lines += ["file = io.BytesIO()", *wrap(f"{export}, opset_version={opset}, dynamo=False)")]
    lines.append("proto = onnx.load_from_string(file.getvalue())")
    engine = _through_onnx(situation, "torch.onnx", lines, ("import torch",), "torch")
    return replace(engine, standard=(*engine.standard, "import io"))


def _through_onnx(
    situation: Situation, stage: str, lines: list[str], imports: tuple[str, ...], converter: str
) -> Engine:
    feeds = dict(zip(situation.input_names, situation.writer.data_names, strict=True))
    reader = READERS[situation.route.steps[-1].name](feeds, situation.single)
    return replace(
        reader,
        imports=(*imports, *reader.imports),
        versions={converter: f"{converter}.__version__", **reader.versions},
        pieces=((stage, tuple(lines)), *reader.pieces),
    )


def _litert(situation: Situation) -> Engine:
    convert = "content = tf.lite.TFLiteConverter.from_keras_model(model).convert()"
    load = (
        "interpreter = Interpreter(model_content=content)",
        "interpreter.allocate_tensors()",
        "runner = interpreter.get_signature_runner()",
    )
    if len(situation.writer.data_names) > 1:
        names = "names = [tensor.name for tensor in model.inputs]"
        outputs = f"runner(**dict(zip(names, {situation.given}, strict=True)))"
    else:
        names = "name = next(iter(runner.get_input_details()))"
        outputs = f"runner(**{{name: {situation.given}}})"
    many = len(situation.writer.graph.outputs) > 10  # output_10 comes after output_2
    numbered = ", key=lambda item: (len(item[0]), item)" if many else ""
    call = f"[v for _, v in sorted({outputs}.items(){numbered})]"
    if situation.single:
        call = f"next(iter({outputs}.values()))"
    return Engine(
        call,
        ARRAYS,
        ("import tensorflow as tf", "from ai_edge_litert.interpreter import Interpreter"),
        standard=(METADATA,),
        versions={"ai-edge-litert": 'version("ai-edge-litert")'},
        pieces=(("convert", (convert,)), ("load", load), ("run", (names,))),
    )


ENGINES: dict[str, Callable[[Situation], Engine]] = {
    "run": _keras,
    "tf-graph": _traced,
    "tf-xla": _traced,
    "keras-file": _keras_file,
    "saved-model": _saved_model,
    "tf2onnx": _tf2onnx,
    "tflite": _litert,
    "torch.onnx": _torch_onnx,
}
"""By the name of a route's second step."""


def engine_of(situation: Situation) -> Engine:
    """How a route runs the model that its first step has built; NoScript where nobody has written that."""
    step = situation.route.steps[1].name
    if step not in ENGINES:
        raise NoScript(f"expected a route through one of {', '.join(ENGINES)}; received step={step!r}")
    return ENGINES[step](situation)
