"""Steps on ONNX files that no graph of ours describes, for `cometfuzz evaluate nnsmith`; they run in child processes.

Such a file travels as a package: the file with the values of its inputs. Our own readers run it as they run any file.
"""

from __future__ import annotations

import importlib
import io
import json
import random
import struct
import zlib
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from cometfuzz.ir.case import PLAIN
from cometfuzz.protocol import WireTensor
from cometfuzz.routes import Work
from cometfuzz.routes.tensors import to_wire

MARK = b"given file\n"


def package(content: bytes, inputs: Mapping[str, Any]) -> bytes:
    """An ONNX file and its inputs in one piece."""
    values = io.BytesIO()
    np.savez(values, **inputs)
    return MARK + struct.pack("<Q", len(content)) + content + values.getvalue()


def unpack(artefact: bytes) -> tuple[bytes, dict[str, Any] | None]:
    """The file, and its inputs if it is a package."""
    if not artefact.startswith(MARK):
        return artefact, None
    at = len(MARK) + 8
    end = at + struct.unpack("<Q", artefact[len(MARK) : at])[0]
    with np.load(io.BytesIO(artefact[end:]), allow_pickle=False) as values:
        return artefact[at:end], {name: values[name] for name in values.files}


def start(options: Mapping[str, str]) -> Any:
    """The adapter that the options name."""
    return {"generate": Generating, "read": Reading, "describe": Describing, "expose": Exposing}[options["does"]](
        options
    )


class Generating:
    """NNSmith, one model for each seed, which is the checksum of the case's input.

    As released it does not get along with the torch and onnx of today: torch.onnx.export must be told to use the
    exporter of that time, and onnx has another name for what serialises a model.
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        import onnx
        import torch

        torch.set_num_threads(1)
        export = torch.onnx.export
        torch.onnx.export = lambda *given, **named: export(*given, **{**named, "dynamo": False})
        onnx._serialize = lambda model: model.SerializeToString()
        from nnsmith.abstract.extension import activate_ext
        from nnsmith.backends.factory import BackendFactory
        from nnsmith.materialize import Model
        from nnsmith.narrow_spec import auto_opset

        self.onnx, self.torch, self.nodes = onnx, torch, int(options["nodes"])
        self.kind = Model.init("onnx", backend_target="cpu")
        self.kind.add_seed_setter()
        factory = BackendFactory.init("onnxruntime", target="cpu", optmax=True)
        self.operators = auto_opset(self.kind, factory)
        activate_ext(opset=self.operators, factory=factory)

    def versions(self) -> dict[str, str]:
        from importlib.metadata import version

        return {"nnsmith": version("nnsmith"), "operators of nnsmith": str(len(self.operators))}

    def generate(self, work: Work, _: Any) -> bytes:
        work.enter("generate")
        seed = zlib.crc32(work.inputs[0].data)
        with work.library():
            from nnsmith.graph_gen import model_gen

            # it draws from all three global generators, and this process does nothing else
            random.seed(seed)  # noqa: TID251
            np.random.seed(seed)  # noqa: NPY002, TID251
            self.torch.manual_seed(seed)
            made = model_gen(opset=self.operators, method="symbolic-cinit", seed=seed, max_nodes=self.nodes)
            model = self.kind.from_gir(made.make_concrete())
            model.refine_weights()
            inputs = model.make_oracle().input
            return package(model.native_model.SerializeToString(), inputs)


class Reading:
    """One of our readers, on a package."""

    def __init__(self, options: Mapping[str, str]) -> None:
        own = {name: value for name, value in options.items() if name not in ("does", "module")}
        self.reader = importlib.import_module(options["module"]).start(own)

    def versions(self) -> dict[str, str]:
        found: dict[str, str] = self.reader.versions()
        return found

    def run(self, work: Work, artefact: bytes) -> list[WireTensor]:
        content, inputs = unpack(artefact)
        assert inputs is not None
        nodes = [SimpleNamespace(id=name, outputs=[SimpleNamespace(shape=each.shape)]) for name, each in inputs.items()]
        given = SimpleNamespace(
            graph=SimpleNamespace(inputs=nodes),
            inputs=[to_wire(each) for each in inputs.values()],
            manner=PLAIN,
            enter=work.enter,
            library=work.library,
        )
        found: list[WireTensor] = self.reader.run(given, content)
        return found


class Describing:
    """What a file is made of: types of operators, and pairs of which one reads the other, bodies included."""

    def __init__(self, options: Mapping[str, str]) -> None:
        import onnx

        self.onnx = onnx

    def versions(self) -> dict[str, str]:
        return {"onnx": self.onnx.__version__}

    def describe(self, work: Work, artefact: bytes) -> list[WireTensor]:
        work.enter("describe")
        nodes: list[str] = []
        pairs: set[tuple[str, str]] = set()
        self._look(self.onnx.load_from_string(unpack(artefact)[0]).graph, {}, nodes, pairs)
        text = json.dumps({"nodes": nodes, "pairs": sorted(pairs)}).encode()
        return [WireTensor("uint8", (len(text),), text)]

    def _look(self, graph: Any, around: Mapping[str, str], nodes: list[str], pairs: set[tuple[str, str]]) -> None:
        makers = dict(around)
        for node in graph.node:
            nodes.append(node.op_type)
            pairs.update((makers[name], node.op_type) for name in node.input if name in makers)
            makers.update(dict.fromkeys(node.output, node.op_type))
            for attribute in node.attribute:
                if attribute.type == self.onnx.AttributeProto.GRAPH:
                    self._look(attribute.g, makers, nodes, pairs)


class Exposing:
    """A file with every value that is made on the way as an output, in the order in which they are made."""

    def __init__(self, options: Mapping[str, str]) -> None:
        import onnx

        self.onnx = onnx

    def versions(self) -> dict[str, str]:
        return {"onnx": self.onnx.__version__}

    def expose(self, work: Work, artefact: bytes) -> bytes:
        work.enter("expose")
        content, inputs = unpack(artefact)
        model = self.onnx.shape_inference.infer_shapes(self.onnx.load_from_string(content))
        known = {value.name: value for value in (*model.graph.value_info, *model.graph.output)}
        made = [known[name] for node in model.graph.node for name in node.output if name in known]
        del model.graph.output[:]
        model.graph.output.extend(made)
        exposed: bytes = model.SerializeToString()
        return exposed if inputs is None else package(exposed, inputs)

    def name(self, work: Work, artefact: bytes) -> list[WireTensor]:
        """The operator that makes each output of an exposed file."""
        work.enter("name")
        graph = self.onnx.load_from_string(unpack(artefact)[0]).graph
        makers = {name: node.op_type for node in graph.node for name in node.output}
        text = json.dumps([makers[value.name] for value in graph.output]).encode()
        return [WireTensor("uint8", (len(text),), text)]
