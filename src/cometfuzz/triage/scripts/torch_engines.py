"""How a script runs the Keras model on PyTorch's own ways: torch.export, what compiles its program, and torch.jit."""

from dataclasses import replace

from cometfuzz.triage.scripts.engines import Situation, in_torch, torch_module
from cometfuzz.triage.scripts.openvino_engines import on_openvino
from cometfuzz.triage.scripts.pieces import KERAS, Engine
from cometfuzz.triage.scripts.text import wrap

_NO_GRADIENTS = "torch.set_grad_enabled(False)"
_PATH = 'path = os.path.join(tempfile.mkdtemp(), "model.pt2")'
_Piece = tuple[str, tuple[str, ...]]


def exported(situation: Situation) -> Engine:
    """By torch.export, or Keras' own export, and then as the steps of the route go on."""
    by_keras = situation.manner.exporter == "export"
    given = situation.given_to_torch if by_keras else in_torch(situation.writer.data_names)
    pieces: list[_Piece] = [("torch.export", tuple(_by_keras(situation) if by_keras else _by_torch(situation)))]
    names = [step.name for step in situation.route.steps]
    for name in names[2:-1]:
        if name != "aot_eager" or "inductor" not in names:  # Inductor does not need what goes before it to be run
            pieces.append(_go_on(name, given))
    last = names[-1]
    if last == "openvino-torch":
        data = f"[{', '.join(situation.writer.data_names)}]"
        engine = on_openvino("model_of_program", data, situation.outputs, tuple(pieces))
        return replace(engine, imports=("import torch", *engine.imports))
    if last == "torch-export-saved":
        pieces.append(("load", ("program = torch.export.load(path)",)))
    if last == "torch-aotinductor":
        pieces.append(("load", ("module = torch._inductor.aoti_load_package(path)",)))
    elif last not in ("torch-aot-eager", "torch-inductor"):
        pieces.append(("run", ("module = program.module()",)))
    return _engine(situation, f"module({given})", pieces)


def _by_torch(situation: Situation) -> list[str]:
    lines, module = torch_module(situation)
    tensors = in_torch(situation.writer.data_names)
    opened = [situation.manner.opened.get(node.id, ()) for node in situation.writer.graph.inputs]
    dynamic = ""
    if any(opened):
        axes = [", ".join(f"{axis}: torch.export.Dim.DYNAMIC" for axis in each) for each in opened]
        texts = ", ".join(f"{{{each}}}" for each in axes)
        dynamic = f", dynamic_shapes=(({texts},),)"  # a module of Keras, too, takes any number of arguments
    return [_NO_GRADIENTS, *lines, *wrap(f"program = torch.export.export({module}, ({tensors},){dynamic})")]


def _by_keras(situation: Situation) -> list[str]:
    inputs = situation.writer.graph.inputs
    specs = [f'keras.InputSpec("{node.outputs[0].dtype}", {node.outputs[0].shape})' for node in inputs]
    given = situation.writer.arranged(specs)
    export = f'model.export(path, format="torch", verbose=False, input_signature=[{given}])'
    return [_NO_GRADIENTS, _PATH, *wrap(export), "program = torch.export.load(path)"]


def _go_on(step: str, given: str) -> _Piece:
    """What the step of a name does with the program; given: the tensors."""
    if step == "run_decompositions":
        return step, ("program = program.run_decompositions()",)
    if step == "pt2":
        return "save", (_PATH, "torch.export.save(program, path)")
    if step == "openvino.torch":
        return "convert", ("model_of_program = openvino.convert_model(program)",)
    if step == "aotinductor":
        return "inductor", (_PATH, "torch._inductor.aoti_compile_and_package(program, package_path=path)")
    return step, (f'module = torch.compile(program.module(), backend="{step}")', f"module({given})  # it compiles now")


def jit_traced(situation: Situation) -> Engine:
    lines, module = torch_module(situation)
    tensors = in_torch(situation.writer.data_names)
    trace = f"torch.jit.trace({module}.eval(), ({tensors},), check_trace=False)"
    made = [_NO_GRADIENTS, *lines, *wrap(f"module = torch.jit.freeze({trace})")]
    return _engine(situation, f"module({tensors})", [("torch.jit", tuple(made))])


def _engine(situation: Situation, call: str, pieces: list[_Piece]) -> Engine:
    return Engine(
        call,
        KERAS,
        ("import torch",),
        standard=("import os", "import tempfile"),
        versions={"torch": "torch.__version__"},
        pieces=tuple(pieces),
    )
