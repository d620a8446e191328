"""ONNX models made simpler and written as code, from descriptions made by hand."""

import ast
from typing import Any

from cometfuzz.triage.scripts.onnx_code import onnx_lines
from cometfuzz.triage.scripts.onnx_graph import OnnxModel, in_plain_dtypes, read, simplified, with_short_names


def node(op: str, inputs: list[str], outputs: list[str], **attributes: Any) -> dict[str, Any]:
    return {"op": op, "domain": "", "inputs": inputs, "outputs": outputs, "attributes": attributes}


def model(*nodes: dict[str, Any], dtype: str = "FLOAT", **initialisers: Any) -> OnnxModel:
    graph = {
        "inputs": [["input_1", dtype, [1, 2]]],
        "outputs": [["Identity:0", dtype, [1, 2]]],
        "initialisers": initialisers,
        "nodes": list(nodes),
    }
    return read({"ir_version": 8, "opsets": [["", 15], ["ai.onnx.ml", 2]], "graph": graph})


CONSTANT = node("Constant", [], ["c"], value=["tensor", ["FLOAT", [2], [1.0, 2.5]]])


def test_constants_are_folded_in_and_identities_go() -> None:
    given = model(
        CONSTANT,
        node("Identity", ["input_1"], ["same"]),
        node("Add", ["same", "c"], ["sum"]),
        node("Relu", ["sum"], ["nobody"]),
        node("Identity", ["sum"], ["Identity:0"]),
        unused=["FLOAT", [1], [3.0]],
    )
    graph = simplified(given).graph
    assert [(each.op, each.inputs, each.outputs) for each in graph.nodes] == [
        ("Add", ("input_1", "c"), ("Identity:0",))
    ]
    assert list(graph.constants) == ["c"]
    assert simplified(given).opsets == (("", 15),)


def test_an_identity_stays_where_it_is_all_there_is() -> None:
    assert [each.op for each in simplified(model(node("Identity", ["input_1"], ["Identity:0"]))).graph.nodes] == [
        "Identity"
    ]


def test_a_value_that_is_two_outputs_keeps_one_identity() -> None:
    plain = model(node("Relu", ["input_1"], ["r"]), node("Identity", ["r"], ["Identity:0"])).graph
    assert len(plain.outputs) == 1
    two = read(
        {
            "ir_version": 8,
            "opsets": [["", 15]],
            "graph": {
                "inputs": [["x", "FLOAT", [1]]],
                "outputs": [["a", "FLOAT", [1]], ["b", "FLOAT", [1]]],
                "initialisers": {},
                "nodes": [node("Relu", ["x"], ["r"]), node("Identity", ["r"], ["a"]), node("Identity", ["r"], ["b"])],
            },
        }
    )
    nodes = simplified(two).graph.nodes
    assert [(each.op, each.inputs, each.outputs) for each in nodes] == [
        ("Relu", ("x",), ("a",)),
        ("Identity", ("a",), ("b",)),
    ]


def body() -> dict[str, Any]:
    return {
        "inputs": [["i", "INT64", []], ["cond", "BOOL", []], ["state", "FLOAT", [1, 2]]],
        "outputs": [["cond_out", "BOOL", []], ["next", "FLOAT", [1, 2]]],
        "initialisers": {},
        "nodes": [
            node("Identity", ["cond"], ["cond_out"]),
            node("Identity", ["outer"], ["copy"]),
            node("Add", ["state", "copy"], ["next"]),
        ],
    }


LOOP = (
    node("Identity", ["input_1"], ["outer"]),
    node("Loop", ["n", "", "input_1"], ["Identity:0"], body=["graph", body()]),
)


def test_graphs_inside_see_the_names_around_them() -> None:
    short, names = with_short_names(simplified(model(*LOOP, n=["INT64", [], [3]])))
    assert names["input_1"] == "x"
    (loop,) = short.graph.nodes
    (inner,) = loop.graphs
    assert inner.nodes[-1].op == "Add"
    assert inner.nodes[-1].inputs[1] == "x"
    assert inner.nodes[0].op == "Identity"
    assert inner.outputs[0].name == inner.nodes[0].outputs[0]


def test_code_is_python_and_holds_every_part() -> None:
    short, _ = with_short_names(simplified(model(*LOOP, n=["INT64", [], [3]])))
    text = "\n".join(onnx_lines(short))
    ast.parse(text)
    assert 'helper.make_node("Loop", ["c1", "", "x"], ["y"], body=body1)' in text
    assert 'helper.make_tensor("c1", TensorProto.INT64, [], [3])' in text
    assert "ir_version=8" in text
    assert text.endswith("onnx.checker.check_model(proto, full_check=True)")


def test_attributes_keep_their_kind() -> None:
    given = model(
        node(
            "Strange",
            ["input_1"],
            ["Identity:0"],
            alpha=["float", 0.20000000298023224],
            pads=["plain", [0, 1]],
            scales=["float", [1.0, 2.0]],
            mode=["plain", 'a"b'],
            to=["plain", 10],
            axes=["plain", []],
        )
    )
    text = "\n".join(onnx_lines(given))
    ast.parse(text)
    assert 'alpha=0.2, pads=[0, 1], scales=[1.0, 2.0], mode="a\\"b", to=TensorProto.FLOAT16' in " ".join(text.split())
    assert "axes" not in text


def test_bfloat16_comes_and_goes_as_float32() -> None:
    graph = in_plain_dtypes(model(node("Relu", ["input_1"], ["Identity:0"]), dtype="BFLOAT16")).graph
    assert [each.op for each in graph.nodes] == ["Cast", "Relu", "Cast"]
    assert [value.dtype for value in (*graph.inputs, *graph.outputs)] == ["FLOAT", "FLOAT"]
    assert graph.nodes[0].outputs == graph.nodes[1].inputs
