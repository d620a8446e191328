"""The ONNX that we write ourselves, on real libraries: what we say of ONNX is so, and files mean what graphs mean."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cometfuzz.catalogue import OPERATORS
from cometfuzz.catalogue.drawing import draw_layer
from cometfuzz.cli import app
from cometfuzz.errors import InvalidCase
from cometfuzz.execution.conformance import Report, conform
from cometfuzz.execution.executor import Executor
from cometfuzz.ir.case import PLAIN, Case
from cometfuzz.routes.direct.asking import NEWEST
from cometfuzz.routes.direct.schemas import TAKES
from cometfuzz.routes.direct.step import DIRECT_ONNX_REFERENCE, WRITE
from cometfuzz.routes.onnx_text import described

pytestmark = pytest.mark.library

ONE_IN = 5
"""One operator in so many is drawn; `cometfuzz conformance --routes direct-onnx-reference` draws all of them."""

_SCHEMAS = """
import json, sys, onnx.defs as defs
letters = {"float16": "e", "float": "f", "double": "d", "bfloat16": "b", "int32": "i", "int64": "l", "bool": "?"}
found = {}
for kind in sys.argv[1:]:
    for opset in range(13, defs.onnx_opset_version() + 1):
        try:
            schema = defs.get_schema(kind, opset)
        except defs.SchemaError:
            continue
        if schema.deprecated:
            continue
        allowed = {each.type_param_str: each.allowed_type_strs for each in schema.type_constraints}
        inputs = [allowed.get(each.type_str, [each.type_str]) for each in schema.inputs]
        found[f"{kind} {opset}"] = ["".join(l for n, l in letters.items() if f"tensor({n})" in ts) for ts in inputs]
print(json.dumps(found))
"""


def test_every_operator_takes_what_the_table_says(main_python: Path) -> None:
    ran = subprocess.run([main_python, "-c", _SCHEMAS, *TAKES], capture_output=True, text=True, check=True)
    for name, inputs in json.loads(ran.stdout).items():
        kind, opset = name.split()
        known = [takes for since, takes in TAKES[kind] if since <= int(opset)]
        assert known, name
        assert known[-1].split(",") == inputs, name


def test_the_newest_opset_is_that_of_the_runtime(main_python: Path) -> None:
    script = f"""
import onnx, onnxruntime
from onnx import helper
onnxruntime.set_default_logger_severity(4)
for opset in ({NEWEST}, {NEWEST + 1}):
    kinds = [helper.make_tensor_value_info(name, 1, [2]) for name in "xy"]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", kinds[:1], kinds[1:])
    opsets = [helper.make_opsetid("", opset)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=helper.find_min_ir_version_for(opsets))
    try:
        onnxruntime.InferenceSession(model.SerializeToString())
        print("read")
    except Exception:
        print("refused")
"""
    ran = subprocess.run([main_python, "-c", script], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == ["read", "refused"]


def test_operators_mean_what_the_reference_says() -> None:
    report = Report()
    for result in conform([DIRECT_ONNX_REFERENCE], list(OPERATORS)[::ONE_IN], 1, seed=2):
        report.add(result)
    assert report.total(DIRECT_ONNX_REFERENCE.name).draws > 30
    assert not [f"{found.layer} draw {found.index}: {found.undeclared}" for found in report.undeclared]


def test_a_file_has_the_opset_of_its_case_and_the_names_of_its_nodes() -> None:
    draws = (draw_layer("LayerNormalization", 1, index) for index in range(50))
    drawn = next(each.case for each in draws if each.x.dtype == "float32" and not each.x.masked and each.x.elements)
    route = described(DIRECT_ONNX_REFERENCE, WRITE)
    with Executor([DIRECT_ONNX_REFERENCE]) as executor:
        for opset in (13, 17, NEWEST, NEWEST + 2):
            case = Case(drawn.graph, drawn.rng_seed, manner=replace(PLAIN, opset=opset))
            plain = json.loads(executor.run_apart(case, route).outputs[0].data)
            assert dict(plain["opsets"])[""] == min(opset, NEWEST)
            assert [name for name, *_ in plain["graph"]["inputs"]] == ["x0"]
            assert [name for name, *_ in plain["graph"]["outputs"]] == ["output_000"]


_FILES = """
import sys, numpy as np, onnx
from onnx import helper, numpy_helper
table = numpy_helper.from_array(np.arange(12, dtype=np.float32).reshape(4, 3), "table")
places = helper.make_tensor_value_info("places", onnx.TensorProto.INT64, ["batch", 3])
rows = helper.make_tensor_value_info("rows", onnx.TensorProto.FLOAT, ["batch", 3, 3])
shape = helper.make_tensor_value_info("shape", onnx.TensorProto.INT64, [3])
nodes = [helper.make_node("Gather", ["table", "places"], ["rows"]), helper.make_node("Shape", ["rows"], ["shape"])]
graph = helper.make_graph(nodes, "g", [places], [rows, shape], [table])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)], ir_version=8)
onnx.save(model, sys.argv[1] + "/whole.onnx")
onnx.save(model, sys.argv[1] + "/outside.onnx", save_as_external_data=True, location="data", size_threshold=0)
"""


def test_a_given_file_runs_on_its_readers_and_one_that_is_not_whole_is_refused(
    main_python: Path, tmp_path: Path
) -> None:
    subprocess.run([main_python, "-c", _FILES, tmp_path], check=True)
    (tmp_path / "garbage.onnx").write_bytes(b"no model at all")
    routes = ["--routes", "onnxruntime,onnx-reference"]
    whole = CliRunner().invoke(app, ["check", str(tmp_path / "whole.onnx"), *routes, "--open-size", "2", "--json"])
    assert whole.exit_code == 0, whole.output
    told = json.loads(whole.stdout)
    assert [each["verdict"] for each in told["routes"]] == ["agrees", "agrees"]
    assert told["inputs"]["drawn"] == {"places": {"dtype": "int64", "shape": [2, 3]}}
    for name, words in (("outside", "external data"), ("garbage", "expected an ONNX file")):
        refused = CliRunner().invoke(app, ["check", str(tmp_path / f"{name}.onnx"), *routes])
        assert isinstance(refused.exception, InvalidCase)
        assert words in str(refused.exception)
