"""A case as a program on ONNX: the model that a converter made of it, built anew, and the library that reads it."""

from dataclasses import replace

import numpy as np

from cometfuzz.catalogue.data import Data
from cometfuzz.errors import NoScript
from cometfuzz.ir.case import PLAIN, Manner
from cometfuzz.routes import Step
from cometfuzz.triage.scripts.onnx_code import IMPORTS, onnx_lines
from cometfuzz.triage.scripts.onnx_graph import (
    NUMPY_DTYPES,
    Fed,
    OnnxModel,
    OnnxTensor,
    in_plain_dtypes,
    simplified,
    with_short_names,
)
from cometfuzz.triage.scripts.onnx_order import in_order
from cometfuzz.triage.scripts.pieces import Program, run_before
from cometfuzz.triage.scripts.readers import engine_reading
from cometfuzz.triage.scripts.text import array, assign

CUT = "Cut down to what matters"
"""How a script says that its model is a part of what a converter made."""


def fed_with(model: OnnxModel, data: Data, simple: bool) -> Fed:
    """A model with the data of a case; `simple`: without what makes no difference to what it means."""
    model = in_order(in_plain_dtypes(simplified(model) if simple else model))
    feeds = {}
    for value in model.graph.inputs:
        if value.name not in data.inputs or value.dtype not in NUMPY_DTYPES:
            raise NoScript(f"expected an input of the case, of a plain dtype; received {value}")
        values = data.inputs[value.name]
        feeds[value.name] = OnnxTensor(value.dtype, values.shape, tuple(values.reshape(-1).tolist()))
    return Fed(model, feeds)


def onnx_program(fed: Fed, reader: Step, manner: Manner = PLAIN) -> Program:
    """The program of an ONNX model on the step that reads it."""
    model, names = with_short_names(in_order(fed.model))
    arrays = {names[old]: names[old].replace("x", "data") for old in (value.name for value in fed.model.graph.inputs)}
    lines: list[str] = []
    for old, tensor in fed.feeds.items():
        dtype = NUMPY_DTYPES[tensor.dtype]
        values = np.array(tensor.values, dtype).reshape(tensor.shape)
        lines += assign(arrays[names[old]], array(values, dtype, named=dtype))
    engine = engine_reading(reader, arrays, len(model.graph.outputs) == 1)
    kinds = [(old, tensor.shape, NUMPY_DTYPES[tensor.dtype]) for old, tensor in fed.feeds.items()]
    engine = run_before(engine, manner, kinds, [arrays[names[old]] for old in fed.feeds])
    engine = replace(
        engine,
        imports=(*IMPORTS, *engine.imports),
        pieces=(("model", tuple(onnx_lines(model))), *engine.pieces),
    )
    return Program(tuple(lines), engine)


def observing(fed: Fed, reader: Step) -> str:
    """A script that runs a model and prints every value of its graph as JSON: name, dtype, shape, elements."""
    feeds = {name: f"data[{at}]" for at, name in enumerate(fed.feeds)}
    engine = engine_reading(reader, feeds, False)
    data = []
    for tensor in fed.feeds.values():
        dtype = NUMPY_DTYPES[tensor.dtype]
        data.append(f"    {array(np.array(tensor.values, dtype).reshape(tensor.shape), dtype, named=dtype)},")
    lines = ["import json", "import numpy as np", *IMPORTS, *engine.imports, "data = [", *data, "]"]
    lines += [*onnx_lines(fed.model), *_ALL_OUTPUTS, *(line for _, part in engine.pieces for line in part)]
    return "\n".join([*lines, f"seen = {engine.call}", *_PRINTED]) + "\n"


_ALL_OUTPUTS = (
    "given = [output.name for output in proto.graph.output]",
    "for value in onnx.shape_inference.infer_shapes(proto).graph.value_info:",
    "    if value.name not in given:",
    '        value.type.tensor_type.ClearField("shape")',
    "        proto.graph.output.append(value)",
)
_PRINTED = (
    "found = []",
    "for output, value in zip(proto.graph.output, seen, strict=True):",
    '    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "fiub":',
    "        kind = TensorProto.DataType.Name(helper.np_dtype_to_tensor_dtype(value.dtype))",
    "        found.append([output.name, kind, value.shape, value.reshape(-1).tolist()])",
    'print("values:", json.dumps(found))',
)
