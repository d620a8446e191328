"""Mutations: a valid graph or Inapplicable; untouched nodes keep their types; nothing is changed in place."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cometfuzz.catalogue.cost import cost_of, weights_of
from cometfuzz.catalogue.data import draw_data
from cometfuzz.catalogue.drawing import draw_graph
from cometfuzz.catalogue.validate import assemble, validate
from cometfuzz.coverage.gain import Coverage
from cometfuzz.coverage.layers import full_space, paper_space
from cometfuzz.draw import Draw
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import encode
from cometfuzz.ir.graph import INPUT, Draft, Edge, Graph
from cometfuzz.ir.types import TensorType
from cometfuzz.mutation import MUTATIONS
from cometfuzz.mutation.base import Guide, Inapplicable, ModelLimits
from cometfuzz.mutation.dialect import usual_dialects
from cometfuzz.mutation.repair import Editor, trim
from cometfuzz.reference.nonfinite import nonfinite_origins
from cometfuzz.reference.run import run
from cometfuzz.search.rehearsal import rehearse
from cometfuzz.search.strategies import Options, make_strategy
from cometfuzz.seeds.small import SMALL

LIMITS = ModelLimits()
GUIDE = Guide([Coverage(paper_space()), Coverage(full_space())])


def mutated(name: str, graph: Graph, draw: Draw) -> Graph | None:
    try:
        return MUTATIONS[name](graph, GUIDE, draw, LIMITS)
    except Inapplicable:
        return None


@pytest.mark.parametrize("name", MUTATIONS)
@given(seed=st.integers(0, 2**32), nodes=st.integers(2, 45))
@settings(deadline=None, max_examples=40)
def test_a_mutation_gives_a_valid_graph_and_leaves_its_input_alone(name: str, seed: int, nodes: int) -> None:
    graph = draw_graph(Draw(seed), nodes)
    before = encode(Case(graph, 0))
    mutant = mutated(name, graph, Draw(seed, "mutation"))
    assert encode(Case(graph, 0)) == before
    if mutant is not None:
        assert validate(mutant) == []
        assert len(mutant.nodes) <= LIMITS.nodes
        assert mutant != graph
        again = mutated(name, graph, Draw(seed, "mutation"))
        assert again == mutant


@pytest.mark.parametrize("name", ["MDtype", "MDims", "MShape", "MParam", "CL", "SpecialI", "SpecialBranch"])
@given(seed=st.integers(0, 2**32))
@settings(deadline=None, max_examples=30)
def test_untouched_nodes_keep_their_types(name: str, seed: int) -> None:
    """A node with the same layer and parameters reads and gives the types that it did, unless it was re-run."""
    graph = draw_graph(Draw(seed), 12)
    mutant = mutated(name, graph, Draw(seed, "mutation"))
    if mutant is None:
        return
    for node in graph.nodes:
        same = mutant.by_id.get(node.id)
        if same is not None and same.params == node.params and mutant.input_types(same) == graph.input_types(node):
            assert same.outputs == node.outputs


def adversarial() -> dict[str, Graph]:
    def chain(shape: tuple[int, ...], *layers: str, dtype: str = "float32", high: int | None = None) -> Graph:
        drafts = [Draft("x", "input", {"shape": shape, "dtype": dtype, "high": high}, ())]
        for index, layer in enumerate(layers):
            drafts.append(Draft(f"n{index}", layer, {}, (Edge(drafts[-1].id),)))
        return assemble(drafts, [Edge(drafts[-1].id)])

    two = [
        Draft("x", "input", {"shape": (2, 3)}, ()),
        Draft("n0", "Add", {}, (Edge("x"), Edge("x"))),
    ]
    return {
        "one node": chain((2, 3)),
        "one layer": chain((2, 3), "ReLU"),
        "no unary layer": assemble(two, [Edge("n0")]),
        "all empty": chain((0, 0, 0), "ReLU", "Dropout", "ELU"),
        "integers": chain((2, 3), "Flatten", "Identity", dtype="int32", high=3),
        "masked": chain((2, 4, 3), "Masking", "Dropout", "LSTM"),
        "legacy": chain((2, 3), "ReLU", "ThresholdedReLU"),
        "200 nodes": chain((2, 3), *["ReLU", "ELU"] * 100),
    }


@pytest.mark.parametrize("name", MUTATIONS)
@pytest.mark.parametrize("kind", adversarial())
def test_mutations_end_on_adversarial_graphs(name: str, kind: str) -> None:
    graph = adversarial()[kind]
    for seed in range(10):
        mutant = mutated(name, graph, Draw(seed))
        assert mutant is None or validate(mutant) == []


def test_trimming_keeps_a_valid_part() -> None:
    graph = draw_graph(Draw(4), 60)
    part = trim(graph, Draw(1), ModelLimits(nodes=20))
    assert 1 < len(part.nodes) <= 20
    assert validate(part) == []
    assert trim(part, Draw(1), ModelLimits(nodes=20)) is part


def test_trimming_heeds_flops_bytes_and_dialect() -> None:
    graph = SMALL["AlexNet"]()
    assert weights_of(graph) > 10**6
    part = trim(graph, Draw(1), ModelLimits(bytes=10**6))
    assert 1 < len(part.nodes) < len(graph.nodes)
    assert 4 * weights_of(part) < 10**6
    assert len(trim(graph, Draw(1), ModelLimits(flops=2 * 10**7)).nodes) < len(graph.nodes)
    with pytest.raises(Inapplicable, match="no part of the graph is within the limits"):
        trim(graph, Draw(1), ModelLimits(flops=10))
    legacy = adversarial()["legacy"]
    assert [node.layer for node in trim(legacy, Draw(1), ModelLimits(dialect=usual_dialects().modern)).nodes] == [
        "input",
        "ReLU",
    ]
    assert trim(legacy, Draw(1), ModelLimits(dialect=usual_dialects().legacy)) is legacy


@pytest.mark.parametrize("name", MUTATIONS)
def test_mutations_keep_within_small_limits(name: str) -> None:
    limits = ModelLimits(nodes=15, elements=200, flops=20_000, bytes=8_000)
    for seed in range(20):
        try:
            mutant = MUTATIONS[name](draw_graph(Draw(seed), 12), GUIDE, Draw(seed), limits)
        except Inapplicable:
            continue
        spent = [cost_of(node.layer, mutant.input_types(node), node.params, node.outputs) for node in mutant.nodes]
        assert len(mutant.nodes) <= limits.nodes
        assert sum(cost.flops for cost in spent) <= limits.flops
        assert sum(cost.bytes for cost in spent) <= limits.bytes


def test_mutants_compute() -> None:
    """Every mutant runs on the reference; what is not finite has a declared reason."""
    search = make_strategy("comet", Options(11, [make() for make in SMALL.values()]))
    made: list[Case] = []
    rehearse(search, 240, made.append)
    declared = []
    for case in made[::3]:
        origins = nonfinite_origins(case.graph, run(case.graph, draw_data(case)))
        declared.append(None not in origins.values())
    assert sum(declared) >= 0.98 * len(declared)


def test_nothing_builds_on_the_branch_of_a_special_value() -> None:
    search = make_strategy("directed", Options(3, [make() for make in SMALL.values()]))
    made: list[Case] = []
    rehearse(search, 60, made.append)
    special = [case.graph for case in made if any(node.layer == "special" for node in case.graph.nodes)]
    assert len(special) > 5
    read = 0
    for graph in special:
        tainted: set[str] = set()
        for node in graph.nodes:
            if node.layer == "special" or any(edge.node in tainted for edge in node.inputs):
                tainted.add(node.id)
        layers = [node for node in graph.nodes if node.id in tainted and node.layer[0].isupper()]
        assert len(layers) <= 1  # none where a later mutation has cut off the layer
        read += len(layers)
    assert read > 5


def test_a_special_value_comes_once_and_on_its_own_branch() -> None:
    graph = draw_graph(Draw(9), 10)
    mutant = mutated("SpecialBranch", graph, Draw(1))
    assert mutant is not None
    special = next(node for node in mutant.nodes if node.layer == "special")
    readers = [node for node in mutant.nodes if Edge(special.id) in node.inputs]
    assert len(readers) == 1
    assert Edge(readers[0].id) in mutant.outputs
    assert [mutated(name, mutant, Draw(2)) for name in ("SpecialBranch", "SpecialI")] == [None, None]


@given(seed=st.integers(0, 2**32))
@settings(deadline=None, max_examples=30)
def test_a_special_input_stands_on_the_path_of_a_layer(seed: int) -> None:
    """All who read the layer read the product, in the places that they had, and nothing else is new."""
    graph = Editor(draw_graph(Draw(seed), 12), Draw(seed), LIMITS).finish()  # without what no output stands on
    mutant = mutated("SpecialI", graph, Draw(seed, "mutation"))
    if mutant is None:
        return
    (product,) = (node for node in mutant.nodes if node.layer == "scale")
    before = product.inputs[0]
    assert mutant.by_id[before.node].layer[0].isupper()
    assert {node.id for node in mutant.nodes} == {*graph.by_id, product.id}
    for node in graph.nodes:
        moved = tuple(Edge(product.id) if edge == before else edge for edge in node.inputs)
        assert mutant.by_id[node.id].inputs == moved
    assert mutant.outputs == tuple(Edge(product.id) if edge == before else edge for edge in graph.outputs)
    assert mutated("SpecialI", mutant, Draw(2)) is None


def test_an_inserted_layer_mostly_stands_on_the_path_and_reads_it_as_it_is() -> None:
    inserted = on_path = direct = 0
    for seed in range(30):
        graph = draw_graph(Draw(seed), 8)
        mutant = mutated("IL", graph, Draw(seed, "mutation"))
        for node in () if mutant is None else mutant.nodes:
            if node.id not in graph.by_id and node.layer[0].isupper():
                inserted += 1
                on_path += any(edge.node == node.id for other in mutant.nodes for edge in other.inputs)
                direct += mutant.by_id[node.inputs[0].node].layer[0].isupper()
    assert inserted > 60
    assert on_path > 0.6 * inserted
    assert direct > 0.7 * inserted


@pytest.mark.parametrize("have", range(6))
@pytest.mark.parametrize("want", range(6))
def test_a_tensor_is_led_to_any_rank(have: int, want: int) -> None:
    """A scalar too: some operators take one."""
    shape = tuple(range(2, 2 + have))
    graph = assemble([Draft("x", INPUT, {"shape": shape}, ())], [Edge("x")])
    for seed in range(5):
        editor = Editor(graph, Draw("ranks", seed), ModelLimits())
        target = TensorType("float32", tuple(range(3, 3 + want)))
        assert editor.type_of(editor.adapt(Edge("x"), target)).shape == target.shape
