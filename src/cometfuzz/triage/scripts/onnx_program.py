"""A case as a program on ONNX: the model that a converter made of it, built anew, and the library that reads it."""

from dataclasses import replace

from cometfuzz.catalogue.data import Data
from cometfuzz.ir.graph import Graph
from cometfuzz.triage.scripts.onnx_code import IMPORTS, onnx_lines
from cometfuzz.triage.scripts.onnx_graph import OnnxModel, in_plain_dtypes, simplified, with_short_names
from cometfuzz.triage.scripts.pieces import Program
from cometfuzz.triage.scripts.readers import READERS
from cometfuzz.triage.scripts.text import array, assign


def onnx_program(model: OnnxModel, graph: Graph, data: Data, reader: str, simple: bool) -> Program:
    """The program of an ONNX model on a reader; `simple`: without what makes no difference to what it means."""
    model, names = with_short_names(in_plain_dtypes(simplified(model) if simple else model))
    new_names = {old: names.get(old, old) for old in data.inputs}
    taken = [value.name for value in model.graph.inputs]
    feeds = {new: new.replace("x", "data") for new in taken}
    lines: list[str] = []
    for node in graph.inputs:
        if new_names[node.id] in taken:
            dtype = node.outputs[0].dtype
            named = "float32" if dtype == "bfloat16" else dtype
            lines += assign(feeds[new_names[node.id]], array(data.inputs[node.id], dtype, named=named))
    engine = READERS[reader](feeds, len(graph.outputs) == 1)
    engine = replace(
        engine,
        imports=(*IMPORTS, *engine.imports),
        pieces=(("model", tuple(onnx_lines(model))), *engine.pieces),
    )
    return Program(tuple(lines), engine)
