"""Parts of graphs: what is kept, what becomes an input, and that nobody cuts in another way."""

import numpy as np
import pytest
from trials import chain

from cometfuzz.catalogue.cutting import cut_out, open_ends, outputs_of, taken_apart, with_mask_sources
from cometfuzz.catalogue.data import draw_data
from cometfuzz.catalogue.drawing import draw_graph
from cometfuzz.catalogue.validate import assemble, validate
from cometfuzz.draw import Draw
from cometfuzz.execution.policy import cut
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Draft, Edge, Graph
from cometfuzz.oracles.windows import window
from cometfuzz.triage.editing import Workpiece


def sequence() -> Graph:
    """x -> masked -> wide -> end, and end reads y too."""
    drafts = [
        Draft("x", INPUT, {"shape": (2, 5, 3), "zero_steps": True}, ()),
        Draft("y", INPUT, {"shape": (2, 4)}, ()),
        Draft("masked", "Masking", {}, (Edge("x"),)),
        Draft("wide", "LSTM", {"units": 4}, (Edge("masked"),)),
        Draft("end", "Add", {}, (Edge("wide"), Edge("y"))),
    ]
    return assemble(drafts, [Edge("end")])


def test_what_is_read_of_others_becomes_an_input_and_inputs_stay() -> None:
    graph = sequence()
    part = cut_out(graph, ["end"], [Edge("end")])
    assert part is not None
    assert [node.id for node in part.graph.nodes] == ["cut_wide_0", "y", "end"]
    assert part.cut == {"cut_wide_0": Edge("wide")}
    assert part.sources == {"cut_wide_0": Edge("wide"), "y": Edge("y")}
    assert part.graph.type_of(Edge("end")) == graph.type_of(Edge("end"))


def test_what_no_output_stands_on_is_left_out() -> None:
    part = cut_out(sequence(), ["masked", "end"], [Edge("end"), Edge("end")])
    assert part is not None
    assert set(part.graph.by_id) == {"cut_wide_0", "y", "end"}
    assert part.graph.outputs == (Edge("end"),)


def test_a_mask_cannot_be_cut_off() -> None:
    graph = sequence()
    assert with_mask_sources(graph, ["wide"]) == {"wide", "masked"}
    assert with_mask_sources(graph, ["end"]) == {"end"}


def test_taken_apart_every_layer_reads_inputs_of_its_own_unless_a_mask_comes_along() -> None:
    graph = taken_apart(sequence())
    assert graph is not None
    assert {node.id for node in graph.inputs} == {"x", "y", "apart_end_0"}
    assert graph.by_id["wide"].inputs == (Edge("masked"),)
    assert graph.by_id["end"].inputs == (Edge("apart_end_0"), Edge("y"))
    assert graph.outputs == (Edge("masked"), Edge("wide"), Edge("end"))


def test_taken_apart_a_tensor_that_is_read_twice_stays_one_and_utilities_go() -> None:
    drafts = [
        Draft("x", INPUT, {"shape": (2, 3)}, ()),
        Draft("half", "cast", {"dtype": "float16"}, (Edge("x"),)),
        Draft("twice", "Multiply", {}, (Edge("half"), Edge("half"))),
    ]
    graph = taken_apart(assemble(drafts, [Edge("twice")]))
    assert graph is not None
    assert [node.id for node in graph.nodes] == ["apart_twice_0", "twice"]
    assert graph.by_id["twice"].inputs == (Edge("apart_twice_0"),) * 2


@pytest.mark.parametrize("seed", range(20))
def test_any_graph_can_be_taken_apart_and_keeps_its_types(seed: int) -> None:
    graph = draw_graph(Draw("apart", seed), 12)
    apart = taken_apart(graph)
    assert apart is not None
    for edge in apart.outputs:
        assert apart.type_of(edge) == graph.type_of(edge)


def test_an_output_of_what_is_not_kept_is_refused() -> None:
    assert cut_out(sequence(), ["end"], [Edge("wide")]) is None


def test_open_ends_are_what_none_of_the_nodes_reads() -> None:
    graph = sequence()
    assert open_ends(graph, ["masked", "wide", "end"]) == [Edge("end")]
    assert open_ends(graph, ["masked", "end"]) == [Edge("masked"), Edge("end")]


def test_a_part_for_a_route_has_the_tensors_of_the_whole() -> None:
    """Zero steps, too: they are what a mask is made of."""
    case = Case(sequence(), 3)
    part = cut(case, ["masked"], 1)
    assert part is not None
    assert (draw_data(part).inputs["x"] == draw_data(case).inputs["x"]).all()


def test_a_window_does_not_stand_on_a_dtype_that_no_case_has() -> None:
    graph = chain((2, 3), ("ReLU", {}), ("Softmax", {})).graph
    last, values = graph.nodes[-1], {Edge(node.id): np.ones((2, 3), np.float32) for node in graph.nodes}
    assert window(graph, [last], values) is not None
    assert window(graph, [last], {edge: value.astype(np.int64) for edge, value in values.items()}) is None


@pytest.mark.parametrize("seed", range(10))
def test_all_who_cut_give_the_same_graph(seed: int) -> None:
    """A reduction and a window around a node differ in what they say of its tensors only."""
    graph = draw_graph(Draw("cutting", seed), 20)
    piece = Workpiece(Case(graph, seed))
    for node in graph.nodes:
        if node.layer != INPUT:
            part = cut_out(graph, with_mask_sources(graph, [node.id]), outputs_of(graph, node.id))
            alone, seen = piece.alone(node.id, piece.values), window(graph, [node], piece.values)
            if part is None:
                assert alone is seen is None
                continue
            assert alone is not None
            assert seen is not None
            assert validate(part.graph) == []
            assert alone.graph == seen.graph == part.graph
            assert set(seen.data) == set(part.sources)
            assert set(alone.data) == set(part.cut)
