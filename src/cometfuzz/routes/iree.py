"""IREE: compiles the ONNX file of tf2onnx for the CPU at hand, and runs that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cometfuzz.protocol import WireTensor
from cometfuzz.routes import QUIET, Group, Route, Stage, Step, Work, libraries
from cometfuzz.routes.calls import flat
from cometfuzz.routes.onnxruntime import named_runs
from cometfuzz.routes.tensors import to_wire
from cometfuzz.routes.tf2onnx import STEPS

FLAGS = ("--iree-llvmcpu-target-cpu=host", "--mlir-disable-threading")
"""How a model is compiled; a script does it alike."""

_LACKING = "failed to legalize operation 'torch.operator'"
_STAGES = tuple(Stage(name, libraries.IREE) for name in ("import", "compile", "run"))
_READER = "cometfuzz.triage.scripts.readers:iree"
_STEP = Step("iree", Group("iree", "iree", QUIET), __name__, "run", _STAGES, reader=_READER)
IREE = Route("iree", "keras-tf > tf2onnx > IREE", "keras3", (*STEPS, _STEP), turn="")


def start(options: Mapping[str, str]) -> IreeAdapter:
    """Import IREE's compiler and its runtime."""
    import onnx

    return IreeAdapter(onnx)


class IreeAdapter:
    """Imports, compiles and runs ONNX files."""

    def __init__(self, onnx: Any) -> None:
        from iree import compiler, runtime
        from iree.compiler.extras import onnx_importer

        self.onnx, self.compiler, self.runtime, self.importer = onnx, compiler, runtime, onnx_importer

    def versions(self) -> dict[str, str]:
        from importlib.metadata import version

        return {"iree": version("iree-base-compiler")}

    def run(self, work: Work, artefact: bytes) -> list[WireTensor]:
        work.enter("import")
        with work.library():
            model = self.onnx.shape_inference.infer_shapes(self.onnx.load_from_string(artefact), data_prop=True)
            info = self.importer.ModelInfo(model)
            module = info.create_module(context=self.compiler.ir.Context()).operation
            self.importer.NodeImporter.define_function(info.main_graph, module).import_all()
            text = module.get_asm()
        work.enter("compile")
        with work.library():
            program = self._compile(text)
        work.enter("run")
        with work.library():
            context = self.runtime.SystemContext(config=self.runtime.Config("local-sync"))
            loaded = self.runtime.VmModule.copy_buffer(context.instance, program)
            context.add_vm_module(loaded)
            call = getattr(context.modules[loaded.name], model.graph.name)
        for given in named_runs(work, [value.name for value in model.graph.input]):
            with work.library():
                values = [value.to_host() for value in flat(call(*given.values()))]
        return [to_wire(value) for value in values]

    def _compile(self, text: str) -> Any:
        """The program. What the compiler says begins alike for all errors, and ends with paths: the error is cut out.
        Operators that it does not have are those that it cannot legalise."""
        try:
            return self.compiler.compile_str(
                text, input_type="onnx", target_backends=["llvm-cpu"], extra_args=list(FLAGS)
            )
        except self.compiler.CompilerToolError as error:
            told = str(error).partition("Invoked with:")[0].splitlines()
            message = next((line.partition("error: ")[2] for line in told if "error: " in line), str(error))
            if message.startswith(_LACKING):
                raise NotImplementedError(message) from None
            error.args = (message,)
            raise
