"""Baselines: each operator does what its description says, models are valid, and feedback alone decides what comes."""

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from cometfuzz.catalogue.data import draw_data, to_array
from cometfuzz.catalogue.validate import validate
from cometfuzz.draw import Draw
from cometfuzz.errors import InvalidCase
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import case_id
from cometfuzz.ir.graph import Edge, Graph
from cometfuzz.mutation.base import Inapplicable, ModelLimits
from cometfuzz.mutation.dialect import usual_dialects
from cometfuzz.search.baselines import audee_operators, graphfuzz, graphfuzz_edits, muffin_layers, muffin_structures
from cometfuzz.search.baselines.audee import AudeePublished, crossed, fitness
from cometfuzz.search.baselines.baseline import LIFTED
from cometfuzz.search.baselines.bundles import bundles
from cometfuzz.search.baselines.editing import inserted, layers_of
from cometfuzz.search.baselines.lemon import Lemon
from cometfuzz.search.baselines.lemon_operators import LEMON, Manner, keeping, open_layers, single_layers
from cometfuzz.search.baselines.weight_rules import fuzz
from cometfuzz.search.pool import Model
from cometfuzz.search.strategies import Feedback, Options, make_strategy, window_of
from cometfuzz.seeds.published import synthesised
from cometfuzz.seeds.small import SMALL, call, chain

FAIR = (
    *("cradle", "lemon", "muffin", "muffin-chain", "muffin-merging", "muffin-dag", "muffin-cells"),
    *("comet-o", "comet-o-published", "comet-r-published", "graphfuzz", "audee"),
)
PUBLISHED = ("muffin-published", "graphfuzz-published", "cradle-published", "lemon-published", "audee-published")
MODERN = usual_dialects().modern
MANNER = Manner(MODERN)
SEEDS = tuple(map(synthesised, ("LeNet", "LSTM (SineWave)", "MobileNetV2")))
NET = chain(
    (2, 6, 6, 3),
    call("Conv2D", filters=4, kernel_size=3, padding="same", activation="relu"),
    call("BatchNormalization"),
    call("ReLU"),
    call("DepthwiseConv2D", kernel_size=2, depth_multiplier=2),
    call("Conv2DTranspose", filters=3, kernel_size=2),
    call("Flatten"),
    call("Dense", units=8, activation="tanh"),
    call("Dense", units=5, activation="softmax"),
    call("Dense", units=4),
)
MODEL = Model(NET, 7)


def feedback(case: Case, index: int) -> Feedback:
    """What libraries might have said: the same each time."""
    draw = Draw(case_id(case), index)
    return Feedback(
        executed=draw.chance(0.9),
        nonfinite=draw.chance(0.1),
        failed=draw.chance(0.1),
        inconsistency=draw.fraction() if draw.chance(0.8) else None,
        magnitude=1e10 * draw.fraction(),
    )


def cases_of(name: str, count: int, told: Callable[[Feedback], Feedback] = lambda each: each) -> list[Case]:
    strategy = make_strategy(name, Options(3, SEEDS))
    made: list[Case] = []
    for index in range(count):
        made.append(strategy.propose())
        if (oldest := index - window_of(strategy) + 1) >= 0:
            strategy.learn(made[oldest], told(feedback(made[oldest], oldest)))
    return made


@pytest.mark.parametrize("name", [*FAIR, *PUBLISHED[:3]])
def test_models_are_valid_and_a_log_of_feedback_replays_them(name: str) -> None:
    made = cases_of(name, 30)
    logged = cases_of(name, 30, lambda each: Feedback.from_plain(json.loads(json.dumps(each.as_plain()))))
    assert [case_id(case) for case in made] == [case_id(case) for case in logged]
    for case in made:
        assert validate(case.graph) == []
        if not name.startswith("cradle"):
            draw_data(case)  # what is not drawn has the shape and dtype that it must have
        if name in FAIR[1:]:
            assert len(case.graph.nodes) <= ModelLimits().nodes
            assert usual_dialects().is_clear(case.graph)


@pytest.mark.parametrize("name", PUBLISHED)
def test_as_published_one_case_is_in_flight_and_nothing_limits_it(name: str) -> None:
    strategy = make_strategy(name, Options(1, SEEDS))
    assert window_of(strategy) == 1
    assert strategy.limits == LIFTED  # type: ignore[attr-defined]
    assert strategy.dialects.modern.routes == ()  # type: ignore[attr-defined]
    if not name.startswith("muffin"):
        assert all(seed not in SEEDS for seed in strategy.unseen)  # type: ignore[attr-defined]


def test_what_was_stored_before_there_was_more_to_say_is_read() -> None:
    old = {"executed": True, "new_branches": None, "nonfinite": False}
    assert Feedback.from_plain(old) == Feedback(executed=True)
    assert Feedback(executed=True).as_plain() == old
    new = Feedback(True, inconsistency=0.1 + 0.2, failed=True, magnitude=3.4e38)
    assert Feedback.from_plain(json.loads(json.dumps(new.as_plain()))) == new


def applied(name: str, model: Model = MODEL, seed: int = 0, manner: Manner = MANNER) -> Model:
    for attempt in range(60):
        try:
            return LEMON[name](model, Draw(name, seed, attempt), manner)
        except (Inapplicable, InvalidCase):
            continue
    raise AssertionError(f"{name} never applies")


def changed_weights(model: Model) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """By weight: what it was and what it is."""
    before = draw_data(MODEL.case).weights
    found = {}
    for key, tensor in model.data.items():
        node, name = key.split("/")
        found[key] = before[node][name].astype(float), to_array(tensor).astype(float)
    return found


@pytest.mark.parametrize("seed", range(5))
def test_noise_is_small_and_on_a_share_of_one_layers_weights(seed: int) -> None:
    weights = changed_weights(applied("GF", seed=seed))
    assert len({key.split("/")[0] for key in weights}) <= 1
    for old, new in weights.values():
        assert np.abs(new - old).max() <= 0.1 * old.std() * 3.01
        assert np.mean(new != old) < 0.75
    everywhere = fuzz(Model(chain((1, 40), call("Dense", units=40)), 1), Draw(seed), 1.0, compounded=True)
    assert everywhere.data


@pytest.mark.parametrize("seed", range(3))
def test_shuffling_keeps_what_each_channel_has(seed: int) -> None:
    ((old, new),) = changed_weights(applied("WS", seed=seed)).values()
    old, new = old.reshape(-1, old.shape[-1]), new.reshape(-1, new.shape[-1])
    assert np.array_equal(np.sort(old, axis=0), np.sort(new, axis=0))
    moved = (old != new).any(axis=0).sum()
    assert moved <= max(1, int(0.3 * old.shape[1]))


@pytest.mark.parametrize(("name", "factor"), [("NEB", 0.0), ("NAI", -1.0)])
@pytest.mark.parametrize("seed", range(6))
def test_a_share_of_neurons_is_blocked_or_inverted(name: str, factor: float, seed: int) -> None:
    weights = changed_weights(applied(name, seed=seed))
    assert len(weights) == 2
    node = NET.by_id[next(iter(weights)).split("/")[0]]
    kernel, bias = weights.values()
    touched = bias[0] != bias[1]
    assert touched.sum() == max(1, int(0.3 * touched.size))
    assert np.array_equal(bias[1], np.where(touched, factor * bias[0], bias[0]))
    old, new = (np.swapaxes(each, -1, -2) if node.layer.endswith("Transpose") else each for each in kernel)
    old, new = (each.reshape(-1, touched.size) if node.layer.startswith("Depth") else each for each in (old, new))
    assert np.array_equal(new, np.where(touched, factor * old, old))


def test_two_neurons_of_the_first_layer_are_switched() -> None:
    weights = changed_weights(applied("NS"))
    assert {key.split("/")[0] for key in weights} == {layers_of(NET)[0].id}
    for old, new in weights.values():
        moved = [at for at in range(old.shape[-1]) if (old[..., at] != new[..., at]).any()]
        assert len(moved) == 2
        assert np.array_equal(old[..., moved], new[..., moved[::-1]])


@pytest.mark.parametrize("name", ["ARem", "ARep"])
def test_one_activation_is_removed_or_replaced(name: str) -> None:
    for seed in range(5):
        graph = applied(name, seed=seed).graph
        different = [node for node in NET.nodes if graph.by_id[node.id].params != node.params]
        assert len(different) <= 1
        for node in different:
            assert node.params.activation != "softmax"
            found = graph.by_id[node.id].params.activation
            assert found == "linear" if name == "ARem" else found in ("relu", "tanh", "sigmoid", "leaky_relu")


def test_layers_after_a_softmax_and_the_last_one_are_not_open() -> None:
    assert [node.layer for node in open_layers(NET)][-1] == "Dense"
    assert len(open_layers(NET)) == 7
    assert [node.layer for node in keeping(NET)] == ["BatchNormalization", "ReLU"]


def test_a_layer_that_keeps_the_shape_is_removed_copied_or_switched() -> None:
    less = applied("LR").graph
    (gone,) = NET.by_id.keys() - less.by_id.keys()
    assert NET.by_id[gone] in keeping(NET)
    assert not any(edge.node == gone for node in less.nodes for edge in node.inputs)
    twice = next(model for seed in range(9) if (model := applied("LC", seed=seed)).data)
    (fresh,) = twice.graph.by_id.keys() - NET.by_id.keys()
    copy = twice.graph.by_id[fresh]
    source = NET.by_id[copy.inputs[0].node]
    assert (copy.layer, copy.params, copy.outputs) == (source.layer, source.params, source.outputs)
    weights = draw_data(twice.case).weights
    assert all(np.array_equal(weights[fresh][name], weights[source.id][name]) for name in weights[source.id])
    switched = applied("LS").graph
    order = [node.layer for node in switched.nodes]
    assert order[2:4] == ["ReLU", "BatchNormalization"]
    assert switched.by_id[layers_of(NET)[1].id].layer == "BatchNormalization"  # with its weights
    assert sorted(order) == sorted(node.layer for node in NET.nodes)


KINDS = {
    2: chain((2, 6), call("ReLU")),
    3: chain((2, 5, 4), call("ReLU")),
    4: chain((2, 5, 5, 3), call("ReLU")),
    5: chain((1, 4, 5, 5, 2), call("ReLU")),
}


@pytest.mark.parametrize("rank", KINDS)
def test_what_is_added_gives_the_shape_that_it_was_given(rank: int) -> None:
    graph = KINDS[rank]
    node = graph.nodes[-1]
    kind = node.outputs[0]
    for calls in [*([each] for each in single_layers(kind)), *bundles(kind, as_written=False)]:
        if all(MODERN.has(each.layer) for each in calls):
            more, names = inserted(graph, node, calls)
            assert more.outputs == (Edge(names[-1]),)
            assert more.type_of(more.outputs[0]) == kind, [each.layer for each in calls]


def test_there_are_as_many_layers_and_bundles_as_the_tool_has() -> None:
    singles = {each.layer for graph in KINDS.values() for each in single_layers(graph.nodes[-1].outputs[0])}
    assert len(singles) == 22
    kinds = [graph.nodes[-1].outputs[0] for graph in KINDS.values()]
    made = {tuple(each.layer for each in calls) for kind in kinds for calls in bundles(kind, as_written=False)}
    flattened = ("Flatten", "Dense", "Reshape")
    assert len(made) == 21
    assert flattened in made
    assert bundles(replace(kinds[2], shape=(1, 101, 101, 1)), as_written=False) == []


def test_two_bundles_fail_as_they_are_written() -> None:
    kind = KINDS[3].nodes[-1].outputs[0]
    written = [calls for calls in bundles(kind, as_written=True) if len(calls) == 2 and calls[1].layer == "Dense"]
    assert {calls[0].layer for calls in written} == {"Cropping1D", "UpSampling1D"}
    for calls in written:
        graph, _ = inserted(KINDS[3], KINDS[3].nodes[-1], calls)
        assert graph.type_of(graph.outputs[0]) != kind


def test_lemon_keeps_what_is_more_inconsistent_than_the_last_that_was() -> None:
    strategy = Lemon(Options(1, SEEDS[:1]))
    strategy.window = 1
    (lemon,) = strategy.chains
    strategy.learn(strategy.propose(), Feedback(True, inconsistency=0.5))
    for inconsistency, kept in ((0.4, 1), (0.6, 2), (0.6, 2), (0.7, 3)):
        case = strategy.propose()
        strategy.learn(case, Feedback(True, inconsistency=inconsistency))
        assert len(lemon.pool) == kept
    assert lemon.last == 0.7
    for bad in (Feedback(False), Feedback(True, failed=True, inconsistency=9.0), Feedback(True, nonfinite=True)):
        strategy.learn(strategy.propose(), bad)
        assert len(lemon.pool) == 3
    assert {model.rng_seed for model in lemon.pool.graphs} == {case.rng_seed}
    assert sum(lemon.made.values()) == 7
    assert sum(lemon.scores.values()) == 2


@pytest.mark.parametrize("structure", muffin_structures.STRUCTURES)
def test_muffins_structures_are_what_they_are_called(structure: str) -> None:
    limits, made = ModelLimits(dialect=MODERN), []
    for index in range(40):
        try:
            draw = Draw(structure, index)
            made.append(
                muffin_structures.build(structure, draw, limits, muffin_layers.LAYERS, lambda name: 1.0, 2, False)
            )
        except (Inapplicable, InvalidCase):
            continue
    assert len(made) > 25
    for graph in made:
        layers = [node.layer for node in graph.nodes if node.layer != "input"]
        assert validate(graph) == []
        assert set(layers) <= set(muffin_layers.LAYERS)
        merged = [node for node in graph.nodes if len(node.inputs) > 1]
        if structure == "chain":
            assert (len(graph.inputs), len(graph.outputs), merged) == (1, 1, [])
            assert len(layers) <= muffin_structures.NODES
        if structure == "merging":
            assert 2 <= len(graph.inputs) <= 3
            assert [len(node.inputs) for node in merged] == [len(graph.inputs)]
        if structure == "dag":
            assert len(graph.inputs) <= 3
            assert len(graph.outputs) <= 3
        if structure == "cells":
            assert layers[-1] == "Softmax"
            assert graph.type_of(graph.outputs[0]).shape == (2, 10)
        for node in graph.nodes:
            if node.layer in muffin_layers.ACTIVATING and node.id != graph.nodes[-1].id:
                assert graph.by_id[node.inputs[0].node].layer in muffin_layers.BEHIND
    if structure in ("merging", "dag"):
        assert any(len(node.inputs) > 1 for graph in made for node in graph.nodes)


def test_muffin_has_59_layers_and_prefers_those_that_few_models_have() -> None:
    assert len(set(muffin_layers.LAYERS)) == len(muffin_layers.LAYERS) == 59
    strategy = make_strategy("muffin-chain", Options(1, SEEDS))
    counted: dict[str, int] = {}
    for _ in range(300):
        case = strategy.propose()
        for layer in {node.layer for node in case.graph.nodes}:
            counted[layer] = counted.get(layer, 0) + 1
        strategy.learn(case, Feedback(executed="Dense" not in {node.layer for node in case.graph.nodes}))
    assert counted["Dense"] == max(count for layer, count in counted.items() if layer != "input")


@pytest.mark.parametrize("edit", graphfuzz_edits.EDITS)
def test_graphfuzz_edits_do_what_they_are_called(edit: str) -> None:
    limits, tried = ModelLimits(dialect=MODERN), 0
    names = [name for name in graphfuzz_edits.blocks() if name not in graphfuzz_edits.SUBGRAPHS and MODERN.has(name)]
    for index in range(60):
        draw = Draw("graphfuzz", index)
        try:
            graph = graphfuzz_edits.wired(draw, limits, names)
            assert len(graph.inputs) == 1
            assert graph.inputs[0].outputs[0].rank == 4
            after = graphfuzz_edits.edited(graph, edit, "ReLU", draw, limits)
        except Inapplicable:
            continue
        tried += 1
        assert validate(after) == []
        old, new = mergers(graph), mergers(after)
        if edit == "edge addition":
            assert new == old + 1
        if edit == "edge removal":
            assert new < old  # what only the lost edge led to is gone as well
        if edit == "block addition":
            assert relus(after) == relus(graph) + 1
        if edit == "block removal":
            assert len(layers_of(after)) < len(layers_of(graph))
        if edit in ("shape", "parameters"):
            assert sorted(n.layer for n in layers_of(after)) == sorted(n.layer for n in layers_of(graph))
            assert graphfuzz.facts_of(after) != graphfuzz.facts_of(graph)
    assert tried >= 5


def mergers(graph: Graph) -> int:
    return sum(len(node.inputs) > 1 for node in graph.nodes)


def relus(graph: Graph) -> int:
    return sum(node.layer == "ReLU" for node in graph.nodes)


def test_a_tree_search_tries_all_once_and_then_what_pays() -> None:
    level, chosen = graphfuzz.Level(), []
    for index in range(60):
        chosen.append(level.choose("abc", Draw(index)))
        level.learn(chosen[-1], float(chosen[-1] == "b"))
    assert set(chosen[:3]) == set("abc")
    assert chosen.count("b") > 30


def test_audee_changes_a_few_parameters_of_one_layer_or_some_numbers() -> None:
    for index in range(30):
        try:
            after = audee_operators.change_parameters(MODEL, Draw(index), MANNER).graph
        except (Inapplicable, InvalidCase):
            continue
        (node,) = (node for node in NET.nodes if after.by_id[node.id].params != node.params)
        changed = [name for name in node.params if node.params[name] != after.by_id[node.id].params[name]]
        assert 1 <= len(changed) <= 3
        assert set(changed) <= set(audee_operators.PARAMETERS)
    for change, inside in ((audee_operators.change_weights, True), (audee_operators.change_inputs, False)):
        model = change(MODEL, Draw(1), MANNER)
        (key,) = model.data
        assert ("/" in key) == inside
        assert model.graph == NET


def test_audee_crosses_numbers_and_goes_for_large_ones() -> None:
    one = audee_operators.change_inputs(MODEL, Draw(1), MANNER)
    two = audee_operators.change_weights(MODEL, Draw(2), MANNER)
    kept = {len(crossed(one, two, Draw(index)).data) for index in range(9)}
    assert kept == {1, 2}
    sizes = [0.0, 1.0, 1e10, 3e38, None]
    assert [round(fitness(Feedback(True, inconsistency=0.5, magnitude=size)), 2) for size in sizes] == [
        *(0.5, 0.51, 0.77, 1.5, 0.5)
    ]
    seeds = AudeePublished(Options(1, [make() for make in SMALL.values()])).first
    assert [len(layers_of(model.graph)) for model in seeds] == [9, 70, 35]
