"""TVM: its relax front end reads the ONNX file of tf2onnx, LLVM compiles it, relax' virtual machine runs it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cometfuzz.protocol import WireTensor
from cometfuzz.routes import QUIET, Group, Route, Stage, Step, Work, libraries
from cometfuzz.routes.onnxruntime import named_runs
from cometfuzz.routes.tensors import to_wire
from cometfuzz.routes.tf2onnx import STEPS

_STAGES = tuple(Stage(name, libraries.TVM) for name in ("import", "compile", "run"))
_GROUP = Group("tvm", "tvm", {**QUIET, "TVM_NUM_THREADS": "1"})
_STEP = Step("tvm", _GROUP, __name__, "run", _STAGES, reader="cometfuzz.triage.scripts.readers:tvm")
TVM = Route("tvm", "keras-tf > tf2onnx > TVM", "keras3", (*STEPS, _STEP), turn="")


def start(options: Mapping[str, str]) -> TvmAdapter:
    """Import TVM."""
    import onnx
    import tvm

    return TvmAdapter(tvm, onnx)


class TvmAdapter:
    """Compiles and runs ONNX files on the CPU."""

    def __init__(self, tvm: Any, onnx: Any) -> None:
        from tvm import relax
        from tvm.relax.frontend.onnx import from_onnx

        self.tvm, self.onnx, self.relax, self.from_onnx = tvm, onnx, relax, from_onnx

    def versions(self) -> dict[str, str]:
        from importlib.metadata import version

        return {"tvm": version("apache-tvm")}

    def run(self, work: Work, artefact: bytes) -> list[WireTensor]:
        work.enter("import")
        with work.library():
            model = self.onnx.load_from_string(artefact)
            module = self.from_onnx(model)
        work.enter("compile")
        with work.library():
            machine = self.relax.VirtualMachine(self.tvm.compile(module, target="llvm"), self.tvm.cpu())
        work.enter("run")
        for given in named_runs(work, [value.name for value in model.graph.input]):
            with work.library():
                result = machine["main"](*[self.tvm.runtime.tensor(array) for array in given.values()])
                values = [value.numpy() for value in (result if len(model.graph.output) > 1 else [result])]
        return [to_wire(value) for value in values]
