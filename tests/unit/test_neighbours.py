"""Neighbours: models around findings of new kinds, valid, different in one thing, and not for ever."""

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from stand_in import SETTINGS, WINDOW, event

from cometfuzz.campaign.events import CaseDone, Executed
from cometfuzz.campaign.leads import Leads, calls_of
from cometfuzz.campaign.loop import proposed_by
from cometfuzz.campaign.replay import replay
from cometfuzz.campaign.store import Store
from cometfuzz.catalogue.drawing import TARGET, draw_layer
from cometfuzz.catalogue.validate import assemble, validate
from cometfuzz.config import PolicyConfig
from cometfuzz.coverage.gain import summary_of
from cometfuzz.coverage.routes import RouteCoverage
from cometfuzz.draw import Draw
from cometfuzz.errors import InvalidCampaign
from cometfuzz.execution.budget import Budget
from cometfuzz.execution.policy import assign
from cometfuzz.execution.versions import usual_view
from cometfuzz.ir.case import Case, Manner
from cometfuzz.ir.codec import case_id
from cometfuzz.ir.graph import INPUT, Draft, Edge
from cometfuzz.mutation.base import Guide, ModelLimits
from cometfuzz.mutation.dialect import Dialect, usual_dialects
from cometfuzz.oracles.finding import Camp, DataKind, Finding, Symptom
from cometfuzz.routes.registry import ROUTES
from cometfuzz.search.directed import Directed
from cometfuzz.search.moves import is_fit, moved, moves_of
from cometfuzz.search.neighbours import (
    BARREN,
    CALLS,
    CALLS_AROUND_A_STOP,
    MODELS,
    NEIGHBOURS,
    WAITING,
    Neighbours,
    call_of,
)
from cometfuzz.search.planning import PlannedCall
from cometfuzz.search.rehearsal import rehearse
from cometfuzz.search.strategies import Feedback, Lead, Options, RouteGoals
from cometfuzz.seeds.small import SMALL

LIMITS = replace(ModelLimits().widened(), dialect=usual_dialects().modern)
GUIDE = Guide(())
LAYERS = ("Conv2D", "Dense", "LSTM", "Add", "Bidirectional", "LayerNormalization", "MaxPooling1D", "Embedding")
LAYERS += ("MultiHeadAttention", "Reshape", "ops.matmul", "ops.sum")
OPENVINO = Dialect("keras3", ("keras-tf", "keras-torch", "openvino"), usual_view())


CASES = 45


def call(layer: str, index: int = 0) -> PlannedCall:
    return call_of(text(layer, index))


def text(layer: str, index: int = 0) -> str:
    drawn = draw_layer(layer, 1, index).case.graph
    (made,) = calls_of(drawn, [drawn.by_id[TARGET]])
    return made


def lead(layer: str = "Conv2D", route: str = "keras-tf", index: int = 0, stops: bool = False, oddity: str = "") -> Lead:
    return Lead((text(layer, index),), (route,), stops, oddity)


def goals(behind: Collection[str] = ()) -> RouteGoals:
    return RouteGoals(RouteCoverage({}), {"openvino": OPENVINO}, 12, lambda: behind)


def neighbours(behind: Collection[str] = ()) -> Neighbours:
    return Neighbours(goals(behind), ModelLimits(), usual_dialects(), GUIDE)


def directed(seed: int = 7) -> Directed:
    return Directed(Options(seed, [make() for make in SMALL.values()], goals=replace(goals(), dialects={})))


@pytest.mark.parametrize("layer", LAYERS)
def test_a_move_is_valid_and_changes_one_thing(layer: str) -> None:
    centre, kinds = next(each for index in range(9) if is_fit(each := call(layer, index), LIMITS)), set()
    for index in range(3):
        for move in moves_of(centre, unseen=True):
            found = moved(centre, move, GUIDE, Draw(index, *move), LIMITS)
            if found is None:
                continue
            kinds.add(move.kind)
            assert all(is_fit(each, LIMITS) for each in found)
            if move.kind in ("before", "behind"):
                assert (found[1] if move.kind == "before" else found[0]) == centre
                assert found[0].output == found[1].types[0]
                continue
            (other,) = found
            same = [name for name in other.params if repr(other.params[name]) == repr(centre.params.get(name, ...))]
            shapes = [kind.shape for kind in other.types], [kind.shape for kind in centre.types]
            assert (other.types, other.params) != (centre.types, centre.params)
            if move.kind == "parameter":
                assert other.types == centre.types
                assert {*other.params} - {*same} == {move.name}
            elif move.kind == "policy":
                assert other.types == centre.types
                assert {*other.params} - {*same} <= {"policy", "dtype"}
            else:
                assert other.params == centre.params
                assert (shapes[0] == shapes[1]) == (move.kind in ("dtype", "mask"))
    assert len(kinds) >= 3


@pytest.mark.parametrize(("stops", "most"), [(False, CALLS), (True, CALLS_AROUND_A_STOP)])
def test_a_model_has_several_calls_side_by_side_and_none_comes_twice(stops: bool, most: int) -> None:
    made = neighbours()
    made.learn([lead(stops=stops)], own=False)
    centre, seen = call("Conv2D"), []
    for index in range(BARREN):
        model = made.make(Draw(index))
        assert model is not None
        assert (model.aim, model.data) == ("", {})
        graph = model.graph
        assert validate(graph) == []
        nodes = [node for node in graph.nodes if node.layer == "Conv2D"]
        assert 1 <= len(nodes) <= 2 * most
        for node in nodes:
            types = graph.input_types(node)
            assert not usual_dialects().modern.objection(node.layer, types, node.params)
            if (types, node.params) != (centre.types, centre.params):  # which has a layer before or behind it then
                seen.append((types, node.params))
    assert len(seen) == len(set(seen)) >= BARREN


def test_a_neighbourhood_ends_when_it_brings_nothing_and_lives_on_while_it_does() -> None:
    made = neighbours()
    made.learn([lead()], own=False)
    for index in range(BARREN):
        assert made.make(Draw(index)) is not None
    assert made.make(Draw("more")) is None, "as many are in flight as may bring nothing"
    made.learn([], own=True)
    made.learn([lead(index=1)], own=True)
    (home,) = made.waiting.values()
    assert (home.left, home.flying, len(home.centres)) == (BARREN, BARREN - 2, 2)
    for _ in range(BARREN - 2):
        made.learn([], own=True)
    assert made.waiting, "they were made before it was known to live"
    for index in range(BARREN):
        assert made.make(Draw(index, "again")) is not None
        made.learn([], own=True)
    assert not made.waiting
    assert made.make(Draw("over")) is None


def test_a_bug_that_looks_new_each_time_does_not_go_on_for_ever() -> None:
    made, models = neighbours(), 0
    made.learn([lead()], own=False)
    for index in range(3 * MODELS):
        if made.make(Draw(index)) is None:
            made.learn([lead(index=index)], own=False)
            continue
        models += 1
        made.learn([lead(index=index)], own=True)
    assert models == MODELS
    assert not made.waiting


def test_few_neighbourhoods_wait_and_the_oldest_is_given_up() -> None:
    made = neighbours()
    layers = ("ReLU", "ELU", "Softmax", "Flatten", "Dense", "Dropout")
    for route in ("keras-tf", "keras-torch", "onnxruntime", "litert"):
        made.learn([lead(layer, route) for layer in layers], own=False)
    assert len(made.waiting) == WAITING
    assert (("ReLU",), "keras-tf") not in made.waiting
    assert (("Dropout",), "litert") in made.waiting


def test_a_dear_route_is_aimed_at_while_it_is_behind() -> None:
    behind: list[str] = []
    made = neighbours(behind)
    made.learn([lead("Dense", "openvino")], own=False)
    assert made.make(Draw(1)) is None
    behind.append("openvino")
    model = made.make(Draw(1))
    assert model is not None
    assert model.aim == "openvino"
    objections = [
        OPENVINO.objection(node.layer, model.graph.input_types(node), node.params) for node in model.graph.nodes
    ]
    assert not any(objections)


def test_the_policy_gives_it_to_the_route_that_it_is_made_for_though_nothing_is_new_there() -> None:
    search, policy, view = directed(), PolicyConfig(), usual_view()
    budget, ran = Budget(policy, ROUTES), RouteCoverage({})
    drafts = [Draft("x", INPUT, {"shape": (2, 3)}, ()), Draft("y", "ReLU", {}, (Edge("x"),))]
    graph = assemble(drafts, [Edge("y")])
    for charged, aim in ((False, "openvino"), (True, ""), (True, "openvino")):
        if charged:
            budget.charge(["keras-tf"])
        case = search.launch(graph, NEIGHBOURS, Draw(1), probe=True, aim=aim)
        ready = proposed_by(search, case, ran, budget)
        (first, *_) = assign(policy, view, case, 0, 1, ready.wanted)
        assert ("openvino" in first.routes) == (charged and bool(aim)), "only while it is behind its share"


def test_odd_data_stays_odd() -> None:
    made = neighbours()
    made.learn([lead("Dense", oddity="special")], own=False)
    model = made.make(Draw(1))
    assert model is not None
    assert model.data
    assert set(model.data) <= {node.id for node in model.graph.inputs}


# What a strategy does with leads


def feedback_of(index: int) -> Feedback:
    """By index alone: now and then a kind is new."""
    draw = Draw("leads", index)
    names = ("Conv2D", "Dense", "LSTM", "ReLU")
    leads = (lead(draw.choice(names), index=draw.integer(0, 3), stops=draw.chance(0.3)),) if draw.chance(0.3) else ()
    return Feedback(executed=draw.chance(0.8), leads=leads)


def campaign(strategy: Directed, start: int = 0, flying: Sequence[Case] = ()) -> Iterator[CaseDone]:
    waiting, index = deque(flying), start
    while True:
        while len(waiting) < WINDOW:
            waiting.append(strategy.propose())
        case, feedback = waiting.popleft(), feedback_of(index)
        strategy.learn(case, feedback)
        yield event(index, case, feedback, summary_of(strategy.coverages))
        index += 1


def test_a_campaign_that_goes_on_has_the_same_neighbours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cometfuzz.search.directed.SHARE", 0.3)  # so that a short one has some
    whole = directed()
    unharmed = [done.case_id for done in islice(campaign(whole), CASES)]
    record = whole.operators()[NEIGHBOURS]
    assert 4 <= record["applied"] <= CASES / 2
    done = 0
    for upto in (25, CASES):
        with Store.open(tmp_path) if done else Store.create(tmp_path, SETTINGS) as store:
            strategy = directed()
            flying = replay(store, strategy, WINDOW)
            for made in islice(campaign(strategy, done, flying), upto - done):
                store.handle(made)
                assert made.case_id == unharmed[made.index]
            done = upto
    assert strategy.operators()[NEIGHBOURS] == record


def test_leads_of_a_stranger_are_refused_in_plain_words(tmp_path: Path) -> None:
    with Store.create(tmp_path, SETTINGS) as store:
        done = next(campaign(directed()))
        broken = {"calls": ["{}"], "routes": ["keras-tf"]}
        store.handle(replace(done, feedback={"executed": True, "leads": [broken]}))
        with pytest.raises(InvalidCampaign, match="expected calls in the leads of case 0"):
            replay(store, directed(), WINDOW)


def test_feedback_is_the_same_after_it_was_stored() -> None:
    for feedback in (Feedback(True), Feedback(False, True, leads=(lead(), lead("Dense", stops=True)))):
        assert Feedback.from_plain(feedback.as_plain()) == feedback
    assert Feedback(True).as_plain() == {"executed": True, "new_branches": None, "nonfinite": False}


def test_without_findings_there_are_none() -> None:
    search = directed()
    rehearse(search, 12)
    assert search.operators()[NEIGHBOURS]["attempts"] == 0
    alone = Directed(Options(7, [make() for make in SMALL.values()]))
    assert NEIGHBOURS not in alone.operators()


# Which findings make leads


def case_of(*layers: str) -> Case:
    drafts = [Draft("x", INPUT, {"shape": (2, 3)}, ())]
    for number, layer in enumerate(layers):
        drafts.append(Draft(f"n{number}", layer, {}, (Edge(drafts[-1].id),)))
    return Case(assemble(drafts, [Edge(drafts[-1].id)]), 5)


def finding(
    symptom: Symptom = "value",
    node: str = "n0",
    layer: str = "ReLU",
    defect: str = "",
    routes: tuple[str, ...] = ("keras-torch", "openvino"),
    data_kind: DataKind = "ordinary",
    message: str = "",
) -> Finding:
    camps = (Camp(routes, "wrong"), Camp(("keras-tf",), "right"))
    found = Finding("value", symptom, data_kind, camps, "run", "torch", "off", node=node, layer=layer, defect=defect)
    return replace(found, evidence={"message": message})


def leads_of(*findings: Finding, case: Case | None = None, known: Sequence[str] = ()) -> tuple[Lead, ...]:
    case = case or case_of("ReLU", "ELU")
    return Leads(known).of([Executed(0, case, case_id(case), [], None, findings)])


def test_a_finding_of_a_new_kind_is_a_lead_once() -> None:
    (made,) = leads_of(finding(), finding())
    assert [call_of(each).spec.name for each in made.calls] == ["ReLU"]
    assert (made.routes, made.stops, made.oddity) == (("keras-torch", "openvino"), False, "")
    assert not leads_of(finding(), known=[finding().key])


def test_what_is_known_or_luck_is_none() -> None:
    assert not leads_of(finding(defect="keras-1"), finding("unsupported"), finding("hang"), finding("nondeterminism"))
    assert not leads_of(finding("uninitialised"))
    assert not leads_of(finding(), case=replace(case_of("ReLU"), breaks="a rule"))


def test_what_would_not_show_in_a_plain_model_has_no_calls() -> None:
    (made,) = leads_of(finding(routes=("keras-tf+no-fusion",)))
    assert (made.calls, made.routes) == ((), ("keras-tf",))
    (made,) = leads_of(finding(), case=replace(case_of("ReLU"), manner=Manner(sequential=True)))
    assert not made.calls


def test_a_model_that_fails_as_a_whole_has_the_calls_that_it_names_or_a_few() -> None:
    def layers(case: Case, message: str) -> list[str]:
        (made,) = leads_of(finding("crash", "", "", message=message), case=case)
        assert made.stops
        return [call_of(each).spec.name for each in made.calls]

    small, large = case_of("ReLU", "ELU"), case_of("ReLU", "ELU", "Softmax", "ReLU", "ELU")
    assert layers(small, "no") == ["ReLU", "ELU"]
    assert layers(large, "no") == []
    assert layers(large, "when calling Softmax.call()") == ["Softmax"]
    assert layers(large, "when calling ELU.call()") == ["ELU"], "the same call twice is one"


def test_special_values_are_part_of_the_lead() -> None:
    (made,) = leads_of(finding("special", data_kind="special"))
    assert made.oddity == "special"
