"""ONNX models cut down to what shows a bug, asked of functions that stand for the libraries."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from cometfuzz.triage.scripts.onnx_code import onnx_lines
from cometfuzz.triage.scripts.onnx_cut import Effort, cut, operators, part_of
from cometfuzz.triage.scripts.onnx_graph import (
    Fed,
    OnnxGraph,
    OnnxModel,
    OnnxNode,
    OnnxTensor,
    OnnxValue,
    all_nodes,
    simplified,
    with_short_names,
)
from cometfuzz.triage.scripts.onnx_order import in_order

ONE = OnnxTensor("FLOAT", (1,), (1.5,))


def node(op: str, inputs: str, outputs: str, **attributes: object) -> OnnxNode:
    return OnnxNode(op, "", tuple(inputs.split()), tuple(outputs.split()), attributes)


def fed(nodes: Sequence[OnnxNode], outputs: str = "y", **constants: OnnxTensor) -> Fed:
    given = OnnxValue("x", "FLOAT", (1,))
    ends = tuple(OnnxValue(name, "FLOAT", (1,)) for name in outputs.split())
    return Fed(OnnxModel(8, (("", 15),), OnnxGraph((given,), ends, constants, tuple(nodes))), {"x": ONE})


def observe(model: Fed) -> dict[str, OnnxTensor]:
    """Every value is one number, but for conditions."""
    seen = {name: ONE for each in model.model.graph.nodes for name in each.outputs}
    return {**seen, **model.feeds, **model.model.graph.constants}


def having(*ops: str) -> Callable[[Fed], bool]:
    return lambda model: {*ops} <= {each.op for each in all_nodes(model.model.graph)}


def ops(model: Fed) -> list[str]:
    return [each.op for each in all_nodes(model.model.graph)]


def chain(length: int, bad: int) -> Fed:
    names = ["x", *(f"v{at}" for at in range(length - 1)), "y"]
    named = [("Bad" if at == bad else "Relu", names[at], names[at + 1]) for at in range(length)]
    return fed([node(*each) for each in named])


@pytest.mark.parametrize("bad", [0, 1, 20, 39])
def test_one_operator_of_many_is_left_with_the_values_around_it(bad: int) -> None:
    asked: list[Fed] = []

    def show(model: Fed) -> bool:
        asked.append(model)
        return having("Bad")(model)

    found = cut(chain(40, bad), observe, show)
    assert ops(found) == ["Bad"]
    (given,), (made,) = found.model.graph.inputs, found.model.graph.outputs
    assert (given.name,) == found.model.graph.nodes[0].inputs
    assert (made.name,) == found.model.graph.nodes[0].outputs
    assert found.feeds.keys() == {given.name}
    assert len(asked) <= 20


def test_two_operators_that_only_fail_together_both_stay() -> None:
    nodes = [node("Split", "x", "a"), node("Relu", "a", "b"), node("Relu", "b", "c"), node("Squeeze", "c", "d")]
    assert ops(cut(fed([*nodes, node("Relu", "d", "y")]), observe, having("Split", "Squeeze"))) == ["Split", "Squeeze"]


def test_what_shows_nothing_smaller_stays_as_it_is() -> None:
    whole = chain(9, 4)
    assert cut(whole, observe, lambda model: False) is whole
    assert cut(whole, lambda model: {}, lambda model: False) is whole


def test_no_more_is_asked_than_was_agreed() -> None:
    asked: list[Fed] = []
    whole = chain(40, 11)
    cut(whole, observe, lambda model: bool(asked.append(model)), Effort(steps=7))
    assert len(asked) == 7
    assert cut(whole, observe, having("Bad"), Effort(wall_s=0.0)) is whole


def test_nothing_is_cut_where_no_value_is_known() -> None:
    whole = chain(3, 1)
    assert part_of(whole, {}, [1], fold=True) is None
    strange = {**observe(whole), "v0": OnnxTensor("BFLOAT16", (1,), (1.0,))}
    assert part_of(whole, strange, [1], fold=True) is None


def test_what_comes_of_constants_is_a_constant() -> None:
    whole = fed([node("Shape", "c", "s"), node("Reshape", "x s", "y")], c=ONE)
    folded, plain = (part_of(whole, observe(whole), [1], fold=fold) for fold in (True, False))
    assert folded is not None
    assert plain is not None
    assert (list(folded.model.graph.constants), list(folded.feeds)) == (["s"], ["x"])
    assert (list(plain.model.graph.constants), list(plain.feeds)) == ([], ["x", "s"])


def test_attributes_constants_and_digits_go_where_they_do_not_matter() -> None:
    bad = node("Bad", "x c d", "y", mode="a", axis=1)
    found = cut(fed([bad], c=ONE, d=ONE), observe, lambda model: model.model.graph.nodes[0].attributes.get("axis") == 1)
    assert found.model.graph.nodes[0] == node("Bad", "x", "y", axis=1)
    assert found.model.graph.constants == {}
    assert found.feeds["x"].values == (0.0,)


def branch(name: str, *nodes: OnnxNode) -> OnnxGraph:
    return OnnxGraph((), (OnnxValue(name, "FLOAT", (1,)),), {}, nodes)


def choice(taken: bool) -> Fed:
    then, other = branch("t", node("Bad", "x", "t")), branch("e", node("Relu", "x", "e"))
    condition = OnnxTensor("BOOL", (), (taken,))
    return fed([node("If", "c", "y", then_branch=then, else_branch=other)], c=condition)


def test_an_if_becomes_the_branch_that_is_taken_and_never_the_other() -> None:
    assert ops(cut(choice(True), observe, having("Bad"))) == ["Bad"]
    assert ops(cut(choice(False), observe, having("Bad"))) == ["If", "Bad", "Relu"]


def loop() -> Fed:
    inputs = [("i", "INT64", ()), ("on", "BOOL", ()), ("state", "FLOAT", (1,)), ("same", "FLOAT", (1,))]
    outputs = [("go", "BOOL", ()), ("next", "FLOAT", (1,)), ("same", "FLOAT", (1,)), ("scan", "FLOAT", (1,))]
    nodes = [
        node("Not", "on", "go"),
        node("Relu", "state", "r"),
        node("Add", "r same", "next"),
        node("Bad", "next", "scan"),
    ]
    body = OnnxGraph(
        tuple(OnnxValue(*each) for each in inputs), tuple(OnnxValue(*each) for each in outputs), {}, tuple(nodes)
    )
    three, true = OnnxTensor("INT64", (), (3,)), OnnxTensor("BOOL", (), (True,))
    return fed([node("Loop", "n t x k", "a b s", body=body), node("Relu", "s", "y")], n=three, t=true, k=ONE)


def test_a_loop_carries_and_does_only_what_it_must() -> None:
    def show(model: Fed) -> bool:
        read = {each.op: [name for name in each.inputs if name] for each in all_nodes(model.model.graph)}
        return len(read.get("Bad", ())) == 1 and len(read.get("Loop", ())) >= 2

    found = cut(loop(), observe, show)
    assert ops(found) == ["Loop", "Bad"]
    (kept,) = found.model.graph.nodes
    (body,) = kept.graphs
    assert kept.outputs == ("s",)
    assert len(kept.inputs) == 2
    assert [value.name for value in body.outputs] == ["go", "scan"]
    assert list(body.constants) == ["go"]
    assert [each.inputs for each in body.nodes] == [("x",)]
    assert operators(found) == 2


def test_the_order_and_the_names_in_a_file_leave_no_trace() -> None:
    nodes = [
        node("Relu", "x", "a", axis=1, mode="m"),
        node("Tanh", "x", "b"),
        node("Add", "a c1", "d"),
        node("Mul", "b c2", "e"),
        node("Sub", "d e", "y"),
    ]
    first = fed(nodes, c1=ONE, c2=replace(ONE, values=(2.5,)))
    names = {"a": "q", "b": "p", "c1": "z2", "c2": "z1", "d": "n", "e": "m"}
    others = [
        replace(
            each,
            inputs=tuple(names.get(name, name) for name in each.inputs),
            outputs=tuple(names.get(name, name) for name in each.outputs),
            attributes=dict(reversed(each.attributes.items())),
        )
        for each in (nodes[1], nodes[3], nodes[0], nodes[2], nodes[4])
    ]
    second = fed(others, z1=replace(ONE, values=(2.5,)), z2=ONE)
    texts = [onnx_lines(with_short_names(in_order(each.model))[0]) for each in (first, second)]
    assert texts[0] == texts[1]


def test_equal_constants_are_one_and_signed_zeros_two() -> None:
    zero = replace(ONE, values=(0.0,))
    same = fed([node("Add", "c1 c2", "y")], c1=ONE, c2=ONE)
    other = fed([node("Add", "c1 c2", "y")], c1=zero, c2=replace(zero, values=(-0.0,)))
    assert [len(in_order(each.model).graph.constants) for each in (same, other)] == [1, 2]


def test_a_cast_to_the_same_dtype_is_nothing() -> None:
    nodes = [node("Cast", "x", "a", to=1), node("Cast", "a", "b", to=11), node("Cast", "b", "c", to=11)]
    graph = simplified(fed([*nodes, node("Relu", "c", "y")]).model).graph
    assert [(each.op, each.inputs) for each in graph.nodes] == [("Cast", ("x",)), ("Relu", ("b",))]


def test_a_node_that_only_a_body_reads_goes_with_the_reader() -> None:
    then = branch("t", node("Add", "o o", "p"), node("Bad", "p", "t"))
    other = branch("e", node("Relu", "x", "q"), node("Relu", "q", "e"))
    chosen = node("If", "c", "y", then_branch=then, else_branch=other)
    whole = fed([node("Relu", "x", "o"), chosen], c=OnnxTensor("BOOL", (), (False,)))

    def only_bodies(model: Fed) -> dict[str, OnnxTensor]:
        return {} if having("If")(model) else observe(model)

    assert ops(cut(whole, only_bodies, having("If", "Bad", "Relu"))) == ["If", "Bad", "Relu"]


def test_a_branch_that_is_never_taken_reads_what_is_there_and_one_condition_does_for_all() -> None:
    then = branch("t", node("Expand", "k", "a"), node("Mul", "a a", "b"), node("Bad", "h b", "t"))
    then = replace(then, constants={"k": ONE})
    first = node("If", "yes", "h", then_branch=branch("p", node("Neg", "x", "p")), else_branch=branch("q"))
    second = node("If", "no", "y", then_branch=then, else_branch=branch("e", node("Relu", "h", "e")))
    yes, no = (OnnxTensor("BOOL", (), (value,)) for value in (True, False))

    def show(model: Fed) -> bool:
        read = [(each.op, len([*filter(None, each.inputs)])) for each in all_nodes(model.model.graph)]
        return {("Neg", 1), ("Relu", 1), ("Bad", 2)} <= {*read} and read.count(("If", 1)) == 2

    found = cut(fed([first, second], yes=yes, no=no), observe, show)
    assert ops(found) == ["If", "Neg", "If", "Relu", "Bad"]
    text = "\n".join(onnx_lines(with_short_names(in_order(found.model))[0]))
    assert text.count("TensorProto.BOOL") == 1


def test_short_arguments_share_a_line() -> None:
    lines = onnx_lines(fed([node("Bad", "x", "y")]).model)
    assert lines[1] == '    [helper.make_node("Bad", ["x"], ["y"])], "graph",'
    assert max(map(len, lines)) <= 100
