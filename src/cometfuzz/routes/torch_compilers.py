"""PyTorch's own ways with the model of keras-torch: torch.export and what compiles its program, and torch.jit.

Routes share their first steps, and each step has a cheaper one before it: which of them is wrong says who is to blame,
the export, the decompositions, AOTAutograd or Inductor. Inductor takes the model that has already run by `aot_eager`,
which is all of torch.compile but Inductor.
"""

from __future__ import annotations

import io
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cometfuzz.protocol import WireTensor
from cometfuzz.routes import Route, Stage, Step, Turn, Work
from cometfuzz.routes.handing import arranged, runs, signature
from cometfuzz.routes.keras import BUILD_TORCH, TORCH, Built
from cometfuzz.routes.libraries import TORCH as LIBRARY
from cometfuzz.routes.torch_tensors import as_module, to_torch, to_wire_tensors

_ENGINES = "cometfuzz.triage.scripts.torch_engines"


def _step(
    name: str, call: str, *stages: str, live: bool = False, engine: str = "", needs: str = "", cpu_s: float = 0.02
) -> Step:
    places = tuple(Stage(stage, LIBRARY) for stage in stages)
    options = {"needs": needs} if needs else {}
    written = f"{_ENGINES}:{engine}" if engine else ""
    return Step(name, TORCH, __name__, call, places, options, live, written, cpu_s=cpu_s)


def _route(name: str, path: str, *steps: Step, turn: Turn = "", fuses: bool = False) -> Route:
    return Route(name, f"keras-torch > {path}", "keras3", (BUILD_TORCH, *steps), turn=turn, fuses=fuses)


EXPORT = _step("torch.export", "export", "torch.export", live=True, engine="exported", cpu_s=1.4)
_DECOMPOSE = _step("run_decompositions", "decompose", "run_decompositions", live=True, cpu_s=1.0)
_SAVE = _step("pt2", "save", "save")
_EAGER = _step("aot_eager", "compile_eager", "aot_eager", live=True, cpu_s=2.0)
_INDUCTOR = _step("inductor", "compile_inductor", "inductor", live=True, needs="compiler", cpu_s=6.0)
_AOT_INDUCTOR = _step("aotinductor", "package", "inductor", needs="compiler", cpu_s=12.0)
_TRACE = _step("torch.jit", "trace", "torch.jit", live=True, engine="jit_traced", cpu_s=0.3)


def _run(name: str) -> Step:
    return _step(name, "run", "run")


TORCH_EXPORT = _route("torch-export", "torch.export", EXPORT, _run("torch-export"), turn="sampled")
TORCH_DECOMPOSED = _route(
    "torch-decomposed", "torch.export with its decompositions", EXPORT, _DECOMPOSE, _run("torch-decomposed")
)
TORCH_EXPORT_SAVED = _route(
    "torch-export-saved",
    "torch.export > .pt2 file > PyTorch",
    *(EXPORT, _SAVE, _step("torch-export-saved", "load", "load", "run")),
)
TORCH_AOT_EAGER = _route(
    "torch-aot-eager", "torch.export > torch.compile by aot_eager", EXPORT, _EAGER, _run("torch-aot-eager")
)
TORCH_INDUCTOR = _route(
    "torch-inductor",
    "torch.export > torch.compile by Inductor",
    *(EXPORT, _EAGER, _INDUCTOR, _run("torch-inductor")),
    fuses=True,
)
TORCH_AOTINDUCTOR = _route(
    "torch-aotinductor",
    "torch.export > AOTInductor",
    *(EXPORT, _AOT_INDUCTOR, _step("torch-aotinductor", "load_package", "load", "run")),
    fuses=True,
)
TORCH_TRACED = _route(
    "torch-traced", "torch.jit.trace, frozen", _TRACE, _run("torch-traced"), turn="sampled", fuses=True
)


def start(options: Mapping[str, str]) -> TorchAdapter:
    """Import PyTorch; RuntimeError where a compiler of C++ is needed and there is none."""
    import torch

    if options.get("needs") == "compiler":
        from torch._inductor import config

        config.force_disable_caches = True  # nothing survives from case to case
        config.compile_threads = 1  # no children of ours that the supervisor does not know
        names = [name for name in config.cpp.cxx if name]
        if not any(map(shutil.which, names)):
            raise RuntimeError(f"expected a C++ compiler, which Inductor needs: {', '.join(names)}; received none")
    return TorchAdapter(torch)


@dataclass(frozen=True)
class Exported:
    """A program of torch.export, and whether its module takes inputs as the Keras model does, not one by one.

    States of a stateful layer are tensors of the program, which each run of it changes, also for those who share it.
    """

    used: Any
    whole: bool = False
    initial: Mapping[str, Any] = field(default_factory=dict)

    @property
    def program(self) -> Any:
        """The program as new: what an earlier step left behind in its states is gone."""
        self.reset()
        return self.used

    def reset(self) -> None:
        """Let stateful layers forget what they have seen."""
        for name, value in self.initial.items():
            self.used.constants[name].copy_(value)


def exported_as_it_is(program: Any, whole: bool = False) -> Exported:
    """A program with the states that it begins with."""
    tensors = {name: value for name, value in program.constants.items() if hasattr(value, "clone")}
    return Exported(program, whole, {name: value.clone() for name, value in tensors.items()})


@dataclass(frozen=True)
class Callable:
    """Something that takes tensors one by one, or arranged as the Keras model takes them."""

    function: Any
    exported: Exported


class TorchAdapter:
    """Takes the model that keras-torch built."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch

    def versions(self) -> dict[str, str]:
        return {"torch": self.torch.__version__}

    def export(self, work: Work, built: Built) -> Exported:
        work.enter("torch.export")
        with work.library(), self.torch.no_grad():
            if work.manner.exporter == "export":
                return exported_as_it_is(self._exported_by_keras(work, built.model), whole=True)
            shapes = self._dynamic_shapes(work)
            module, given = as_module(self.torch, work, built.model), self._first(work)
            program = self.torch.export.export(module, tuple(given), dynamic_shapes=shapes and (shapes,))
            return exported_as_it_is(program)

    def _dynamic_shapes(self, work: Work) -> Any:
        """For each input its open axes; None where nothing is open."""
        dynamic = self.torch.export.Dim.DYNAMIC
        opened = [work.manner.opened.get(node.id, ()) for node in work.graph.inputs]
        return tuple(dict.fromkeys(axes, dynamic) for axes in opened) if any(opened) else None

    def _exported_by_keras(self, work: Work, model: Any) -> Any:
        """What Keras' own export makes of it. It is told the sizes: it forgets that of the batch."""
        import keras

        shapes = self._dynamic_shapes(work)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.pt2")
            more = {"dynamic_shapes": [(arranged(work, shapes),)]} if shapes else {}
            model.export(path, format="torch", verbose=False, input_signature=signature(keras, work), **more)
            return self.torch.export.load(path)

    def _first(self, work: Work) -> list[Any]:
        """The inputs at sizes of which, where they are open, none is 1 if that can be: torch.export takes a size of 1
        for a constant, as it says."""
        axes = [work.manner.opened.get(node.id, ()) for node in work.graph.inputs]
        each = list(runs(work))
        fit = [
            arrays for arrays in each if all(arrays[i].shape[axis] > 1 for i, own in enumerate(axes) for axis in own)
        ]
        return [to_torch(self.torch, array) for array in (fit or each)[-1]]

    def decompose(self, work: Work, exported: Exported) -> Exported:
        work.enter("run_decompositions")
        with work.library(), self.torch.no_grad():
            return exported_as_it_is(exported.program.run_decompositions(), exported.whole)

    def run(self, work: Work, made: Exported | Callable) -> list[WireTensor]:
        work.enter("run")
        if isinstance(made, Exported):
            with work.library():
                made = Callable(made.program.module(), made)
        return self._call(work, made)

    def _call(self, work: Work, made: Callable) -> list[WireTensor]:
        for arrays in runs(work):
            with work.library(), self.torch.no_grad():
                results = self._once(work, made, [to_torch(self.torch, array) for array in arrays])
        with work.library():
            return to_wire_tensors(results)

    def _once(self, work: Work, made: Callable, given: list[Any]) -> Any:
        return made.function(arranged(work, given)) if made.exported.whole else made.function(*given)

    def save(self, work: Work, exported: Exported) -> bytes:
        work.enter("save")
        content = io.BytesIO()
        with work.library():
            self.torch.export.save(exported.program, content)
        return content.getvalue()

    def load(self, work: Work, artefact: bytes) -> list[WireTensor]:
        work.enter("load")
        with work.library():
            program = self.torch.export.load(io.BytesIO(artefact))
        return self.run(work, Exported(program, work.manner.exporter == "export"))

    def compile_eager(self, work: Work, exported: Exported) -> Callable:
        return self._compile(work, exported, "aot_eager")

    def compile_inductor(self, work: Work, eager: Callable) -> Callable:
        return self._compile(work, eager.exported, "inductor")

    def _compile(self, work: Work, exported: Exported, backend: str) -> Callable:
        """torch.compile compiles when it is first called, so it is called here."""
        work.enter(backend)
        first = [to_torch(self.torch, array) for array in next(runs(work))]
        with work.library(), self.torch.no_grad():
            self.torch._dynamo.reset()
            made = Callable(self.torch.compile(exported.program.module(), backend=backend), exported)
            self._once(work, made, first)
            exported.reset()  # compiling has run the model
        return made

    def package(self, work: Work, exported: Exported) -> bytes:
        work.enter("inductor")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.pt2")
            with work.library(), self.torch.no_grad():
                self.torch._inductor.aoti_compile_and_package(exported.program, package_path=str(path))
            return path.read_bytes()

    def load_package(self, work: Work, artefact: bytes) -> list[WireTensor]:
        work.enter("load")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.pt2")
            path.write_bytes(artefact)
            with work.library():
                loaded = self.torch._inductor.aoti_load_package(str(path))
            work.enter("run")
            return self._call(work, Callable(loaded, Exported(None, work.manner.exporter == "export")))

    def trace(self, work: Work, built: Built) -> Callable:
        work.enter("torch.jit")
        given = [to_torch(self.torch, array) for array in list(runs(work))[-1]]
        with work.library(), self.torch.no_grad():
            traced = self.torch.jit.trace(as_module(self.torch, work, built.model), tuple(given), check_trace=False)
            built.reset()  # tracing has run the model, and freezing keeps the states that it finds
            return Callable(self.torch.jit.freeze(traced), Exported(None))
