"""Two sides of a comparison: which routes they are, what differs between them, and what is kept and shown of it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any, cast

import campaigning
import numpy as np
import pytest
from bugs import bug as bug_of
from reporting import HOSTILE
from rich.console import Console
from triaging import Acting
from trials import Routes, chain, completed, raised

from cometfuzz.campaign.comparison import (
    Comparing,
    Difference,
    differences,
    not_offered,
    one_sided,
    sightings,
    waiting,
)
from cometfuzz.campaign.events import Executed, RouteResult, Started
from cometfuzz.campaign.session import Settings
from cometfuzz.campaign.store import Store
from cometfuzz.config import PolicyConfig
from cometfuzz.errors import UnknownName
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.outcome import Outcome, Trial
from cometfuzz.execution.sides import CommonView, Sides, sides_between
from cometfuzz.execution.versions import view_of
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import case_id
from cometfuzz.ir.graph import Graph
from cometfuzz.ledger.defect import Applies, Defect, Seen
from cometfuzz.ledger.matching import View, rule_of
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.finding import Camp, Finding
from cometfuzz.oracles.judging import examine
from cometfuzz.reports.comparison import PAGE, comparison, rendered, write_comparison
from cometfuzz.routes.registry import ROUTES, moved
from cometfuzz.triage.bug import Bug, Script
from cometfuzz.triage.contrast import Contrast, Kind, contrasts, is_missing, is_proved, judged, recorded
from cometfuzz.triage.known import Known, shipped_bugs

OLD, NEW = "keras-tf", "keras-torch"
SIDES = Sides("then", "now", ((OLD, NEW),))
CASE = chain((2, 6), ("Dense", {"units": 5}), ("ReLU", {}), ("Dense", {"units": 3}), ("Softmax", {}))


class Differing(Acting):
    """Routes that give wrong values, as `trials.Routes` does, or raise on a layer: (layer, class, message, stage)."""

    def __init__(self, raising: Mapping[str, tuple[str, str, str, str]] | None = None, **faults: Any) -> None:
        super().__init__({}, (OLD, NEW))
        self.raising, self.wrong = raising or {}, Routes(**faults)

    def run(
        self, case: Case, routes: Sequence[str] = (), intermediates: bool = False, other_memory: bool = False
    ) -> Trial:
        self.ran += 1
        trial = self.wrong(case, routes or self.names, intermediates)
        outcomes = {name: self._raised(name, case.graph) or outcome for name, outcome in trial.outcomes.items()}
        return replace(trial, outcomes=outcomes)

    def _raised(self, name: str, graph: Graph) -> Outcome | None:
        layer, kind, message, stage = self.raising.get(name, ("", "", "", ""))
        if not any(node.layer == layer for node in graph.nodes):
            return None
        return raised(name, kind, message, stage=stage)


def negated_relu(layer: str, value: np.ndarray) -> np.ndarray:
    return -value if layer == "ReLU" else value


def doubled_relu(layer: str, value: np.ndarray) -> np.ndarray:
    return 2 * value if layer == "ReLU" else value


def kinds(executor: Differing) -> list[tuple[Kind, str]]:
    """What the oracles' findings of a trial come to, and on which side."""
    trial = executor.run(CASE)
    findings = list(examine(Bench(trial, executor.run)))
    ended = {name: outcome.status for name, outcome in trial.outcomes.items()}
    return [(each.kind, each.side) for each in contrasts(findings, ended, SIDES)]


MISSING = ("Softmax", "ValueError", "Unrecognized keyword arguments passed to Softmax: {'sliding': 2}", "build")
SLIP = ("Softmax", "TypeError", "unsupported operand", "run")


def test_wrong_on_the_new_side_only_is_a_regression() -> None:
    assert kinds(Differing(keras_torch=negated_relu)) == [("regression", "new")]


def test_wrong_on_the_old_side_only_is_a_repair() -> None:
    assert kinds(Differing(keras_tf=negated_relu)) == [("repair", "old")]


def test_both_wrong_in_two_ways_is_a_change() -> None:
    assert kinds(Differing(keras_tf=negated_relu, keras_torch=doubled_relu)) == [("change", "new")]


def test_both_wrong_in_the_same_way_is_no_difference() -> None:
    assert kinds(Differing(keras_tf=negated_relu, keras_torch=negated_relu)) == []


def test_one_wrong_answer_is_no_difference_though_the_ledger_knows_it_of_one_side_only() -> None:
    executor = Differing(keras_tf=negated_relu, keras_torch=negated_relu)
    trial = executor.run(CASE)
    (both,) = examine(Bench(trial, executor.run))
    apart = [
        replace(both, camps=(Camp((name,), both.detail),), defect=known) for name, known in ((OLD, ""), (NEW, "x"))
    ]
    assert list(contrasts(apart, dict.fromkeys((OLD, NEW), "completed"), SIDES)) == []
    other = [apart[0], replace(apart[1], detail="expected 1; received 3")]
    assert [each.kind for each in contrasts(other, dict.fromkeys((OLD, NEW), "completed"), SIDES)] == ["change"]
    found = a_contrast(apart[1])
    assert judged(bug_of(CASE, apart[1]), found, cast(Executor, executor), SIDES) is None


def test_an_exception_on_one_side_is_a_difference_too() -> None:
    assert kinds(Differing({NEW: SLIP})) == [("regression", "new")]
    assert kinds(Differing({OLD: SLIP})) == [("repair", "old")]


def test_another_word_for_the_same_exception_is_no_difference_but_another_exception_is() -> None:
    reworded = (*SLIP[:2], "no such operand here", SLIP[3])
    assert kinds(Differing({OLD: SLIP, NEW: reworded})) == []
    other = ("Softmax", "KeyError", "x", "run")
    assert kinds(Differing({OLD: SLIP, NEW: other})) == [("change", "new")]


def test_what_a_side_does_not_know_is_not_offered() -> None:
    assert kinds(Differing({OLD: MISSING})) == [("not offered", "old")]
    assert kinds(Differing({NEW: MISSING})) == [("not offered", "new")]


def test_nothing_is_said_of_a_model_that_a_side_does_not_know() -> None:
    """What the old side would make of the rest of it, nobody can tell."""
    assert kinds(Differing({OLD: MISSING}, keras_torch=negated_relu)) == [("not offered", "old")]


@pytest.mark.parametrize(
    ("kind", "message", "stage", "frames", "missing"),
    [
        ("AttributeError", "module 'keras.layers' has no attribute 'RMSNormalization'", "build", (), True),
        ("AttributeError", "module 'keras._tf_keras.keras.ops' has no attribute 'rot90'", "build", (), True),
        ("TypeError", "Dense.__init__() got an unexpected keyword argument 'sliding_window'", "build", (), True),
        ("ValueError", "Could not interpret activation function identifier: glu", "build", (), True),
        ("ValueError", "Could not interpret initializer identifier: Ones", "build", (), True),
        ("ValueError", "Unrecognized keyword arguments passed to MultiHeadAttention: {}", "build", (), True),
        ("ValueError", "Unknown activation function: sparsemax", "build", ("/x/keras/a.py:3 get",), True),
        ("TypeError", "pad() got an unexpected keyword argument 'mode'", "build", ("/x/keras/b.py:3 same_pad",), False),
        ("TypeError", "pad() got an unexpected keyword argument 'mode'", "run", (), False),
        ("ValueError", "expected a positive stride", "build", (), False),
    ],
)
def test_a_missing_name_is_told_from_a_slip(
    kind: str, message: str, stage: str, frames: Sequence[str], missing: bool
) -> None:
    outcomes = {NEW: raised(NEW, kind, message, *frames, stage=stage), OLD: completed(OLD, [])}
    trial = Trial(chain((1, 2), ("ReLU", {})), outcomes)
    crashes = [each for each in examine(Bench(trial, Routes())) if each.oracle == "crash"]
    assert [is_missing(each) for each in crashes] == [missing]


def begun(folder: Path, executor: Differing, cases: int = 2) -> Store:
    """The folder of a comparison in which some cases were run."""
    settings = Settings("directed", 1, SIDES.routes, (), between=("then", "now"), pairs=SIDES.pairs)
    store = Store.create(folder, {**vars(settings), "seeds": ["none"]})
    store.handle(Started({}, 0, campaigning.covered(0)))
    for index in range(cases):
        case = replace(CASE, rng_seed=index)
        trial = executor.run(case)
        results = [RouteResult(o.route, o.status, o.stage, o.library, 0.1, 0.1, "", None, {o.route: "1"}, None)
                   for o in trial.outcomes.values()]  # fmt: skip
        part = Executed(0, case, case_id(case), results, None, tuple(examine(Bench(trial, executor.run))))
        event = campaigning.case_done(index, float(index))
        store.handle(replace(event, case=case, case_id=case_id(case), parts=(part,)))
    return store


def looked_into(store: Store, executor: Differing, **more: Any) -> list[Difference]:
    Comparing(store, SIDES, cast(Executor, executor), Known(), reproduce=lambda bug: None, **more).run()
    return differences(store)


def test_a_regression_is_reduced_to_the_layer_and_kept_once(tmp_path: Path) -> None:
    executor = Differing(keras_torch=negated_relu)
    with begun(tmp_path / "c", executor) as store:
        (found,) = looked_into(store, executor)
        assert (found.kind, found.proved, found.bug.signature.layers) == ("regression", True, ("ReLU",))
        assert found.record.routes == {"old": OLD, "new": NEW}
        assert waiting(store, sightings(store, SIDES)) == []
        ran = executor.ran
        assert looked_into(store, executor) == [found]
        assert executor.ran == ran  # nothing is done twice


def test_a_repair_and_a_regression_are_two(tmp_path: Path) -> None:
    executor = Differing({OLD: SLIP}, keras_torch=negated_relu)
    with begun(tmp_path / "c", executor) as store:
        found = looked_into(store, executor)
        assert [(each.kind, each.bug.signature.layers) for each in found] == [
            ("regression", ("ReLU",)),
            ("repair", ("Softmax",)),
        ]


def test_both_wrong_stays_a_change_when_it_is_small(tmp_path: Path) -> None:
    executor = Differing(keras_tf=negated_relu, keras_torch=doubled_relu)
    with begun(tmp_path / "c", executor) as store:
        (found,) = looked_into(store, executor)
        assert (found.kind, found.bug.signature.layers) == ("change", ("ReLU",))


def test_what_does_not_show_again_is_no_difference(tmp_path: Path) -> None:
    with begun(tmp_path / "c", Differing(keras_torch=negated_relu)) as store:
        assert looked_into(store, Differing()) == []


def test_what_is_not_offered_is_counted_and_not_looked_into(tmp_path: Path) -> None:
    executor = Differing({OLD: MISSING})
    with begun(tmp_path / "c", executor, cases=3) as store:
        ran = executor.ran
        assert looked_into(store, executor) == []
        assert executor.ran == ran
        (lacking,) = not_offered(sightings(store, SIDES))
        assert (lacking.side, lacking.times) == ("old", 3)
        assert "sliding" in lacking.what


def test_what_is_left_when_it_is_stopped_is_done_later(tmp_path: Path) -> None:
    executor = Differing(keras_torch=negated_relu)
    with begun(tmp_path / "c", executor) as store:
        assert looked_into(store, executor, stopped=lambda: True) == []
        assert comparison(store, SIDES).waiting == 1
        assert len(looked_into(store, executor)) == 1
        assert comparison(store, SIDES).waiting == 0


def script(exit_code: int, shown: bool) -> Mapping[str, Any]:
    return {"environment": "main", "shows": shown, "exit_code": exit_code, "output": HOSTILE.replace("\ud800", "")}


@pytest.mark.parametrize(
    ("kind", "failing", "other", "proved"),
    [
        ("regression", script(1, True), script(0, False), True),
        ("regression", script(1, True), script(1, True), False),
        ("regression", script(1, True), script(2, False), False),
        ("regression", script(0, False), script(0, False), False),
        ("change", script(1, True), script(1, False), True),
        ("change", script(1, True), script(0, False), False),
    ],
)
def test_a_script_proves_a_difference_if_the_other_side_ends_well(
    kind: Kind, failing: Mapping[str, Any], other: Mapping[str, Any], proved: bool
) -> None:
    bug = replace(a_bug(), script=Script("", "main", True, 1, ""))
    assert is_proved(bug, kind, {"new": failing, "old": other}, "new") is proved


def a_bug() -> Bug:
    executor = Differing(keras_torch=negated_relu)
    (found,) = examine(Bench(executor.run(CASE), executor.run))
    return bug_of(CASE, found)


def a_contrast(finding: Finding) -> Contrast:
    return Contrast(finding, NEW, OLD, "new", "regression", True)


def test_page_table_and_json_say_the_same(tmp_path: Path) -> None:
    executor = Differing({OLD: MISSING})
    with begun(tmp_path / "c", executor) as store:
        bug = replace(a_bug(), title="evil </td><script>alert(1)</script>", script=Script("", "main", True, 1, ""))
        runs = {"new": script(1, True), "old": script(0, False)}
        store.keep(recorded(bug, a_contrast(bug.finding), "regression", runs, cast(Executor, executor)))
        found = comparison(store, SIDES)
        assert found.headline == "1 regression, 0 repairs, 0 changes between then and now"
        assert found.regressions == found.proved
        plain = json.loads(json.dumps(found.as_plain()))
        assert plain["counts"] == {"regression": 1, "repair": 0, "change": 0, "not offered": 1}
        assert plain["differences"][0]["scripts"]["old"]["exit_code"] == 0
        assert plain["not_offered"][0]["times"] == 2
        page = write_comparison(store, found)
    text = page.read_text()
    assert page.name == PAGE
    assert "<script>alert(1)" not in text
    assert "1 regression, 0 repairs" in text
    assert "does right" in text
    assert (page.parent / "bugs" / bug.id / "index.html").is_file()
    shown = StringIO()
    Console(width=160, file=shown).print(rendered(found))
    assert "regression" in shown.getvalue()
    assert "Not offered: 1 name" in shown.getvalue()


def test_a_strangers_record_is_no_difference(tmp_path: Path) -> None:
    bug = a_bug()
    for record in (None, 3, {"kind": "regression"}, {"kind": ["x"]}):
        odd = replace(bug, finding=replace(bug.finding, evidence={"difference": record}))
        assert Difference.of(odd) is None


def test_two_environments_have_every_route_that_can_live_in_both() -> None:
    sides, routes = sides_between("keras313", "main", ROUTES, [OLD, NEW, "keras-mxnet"])
    assert sides.pairs == ((f"{OLD}@keras313", OLD), (f"{NEW}@keras313", NEW))
    assert {step.group.environment for step in routes[f"{OLD}@keras313"].steps} == {"keras313"}
    assert sides.twin(OLD) == f"{OLD}@keras313"
    assert sides.twin(f"{OLD}@keras313+no-onednn") == f"{OLD}+no-onednn"
    assert (sides.side_of(OLD), sides.side_of(f"{OLD}@keras313+no-onednn"), sides.side_of("x")) == ("new", "old", None)
    assert sides.both(["keras-tf"], routes) == ("keras-tf", "keras-tf@keras313")


def test_lists_of_routes_are_pairs() -> None:
    sides, _ = sides_between("keras-tf,keras-torch", "keras-jax,openvino", ROUTES, [])
    assert sides.pairs == (("keras-tf", "keras-jax"), ("keras-torch", "openvino"))
    policy = sides.policy(PolicyConfig(), ROUTES)
    assert (policy.base, policy.converters, policy.clear) == (("keras-jax", "openvino"), (), ())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        *[("main", "main"), ("keras-tf", "keras-tf"), ("keras-tf,keras-torch", "keras-jax"), ("main", "keras-tf")],
        *[("keras-tf,keras-tf", "keras-jax,keras-torch"), ("nowhere", "main"), ("", "")],
    ],
)
def test_sides_that_are_none_are_refused(old: str, new: str) -> None:
    with pytest.raises(UnknownName, match="expected"):
        sides_between(old, new, ROUTES, [OLD])


def test_what_the_ledger_knows_of_one_side_is_a_difference_with_its_name() -> None:
    sides, routes = sides_between("keras313", "main", ROUTES, [NEW, OLD])
    view = view_of({name: routes[name] for name in sides.routes}, "x86-64-v3")
    found = {entry.slug: contrast for entry, contrast in one_sided(view, sides, shipped_bugs())}
    mended, broken = found["keras-tf-conv-l1-float16-crash"], found["keras-relu-threshold-special-nonfinite"]
    assert (mended.kind, mended.failing, mended.other) == ("repair", f"{OLD}@keras313", OLD)
    assert (broken.kind, broken.failing, broken.other) == ("regression", OLD, f"{OLD}@keras313")
    assert "keras-tf-add-value" not in found


def test_only_what_is_known_of_both_sides_keeps_models_away() -> None:
    routes = {OLD: ROUTES[OLD], f"{OLD}@old": moved(ROUTES[OLD], f"{OLD}@old", "old")}
    sides = Sides("old", "main", ((f"{OLD}@old", OLD),))
    applies = Applies((OLD,), layers=("ReLU",), symptom="value")

    def entry(name: str, *versions: str) -> Any:
        seen = tuple(Seen({"keras": version}) for version in versions)
        return rule_of(Defect(title=name, why=name, library="keras", seen=seen, applies=(applies,), id=name), applies)

    rules = [entry("both", "1", "2"), entry("old", "1"), entry("new", "2")]
    view = View(routes, {OLD: {"keras": "2"}, f"{OLD}@old": {"keras": "1"}}, rules)
    assert [rule.id for rule in view.rules_of(OLD, "ReLU")] == ["both", "new"]
    common = CommonView(view, sides)
    assert [rule.id for rule in common.rules_of(OLD, "ReLU")] == ["both"]
    assert list(common.routes) == [OLD]
