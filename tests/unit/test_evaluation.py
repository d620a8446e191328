"""Experiments: statistics by hand, runs that go on, tables that say what they cannot be compared with."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, cast

import campaigning
import pytest
from triaging import Acting, Condition, crash_of
from typer.testing import CliRunner

from cometfuzz.campaign.store import Store
from cometfuzz.campaign.triaging import Progress as Step
from cometfuzz.catalogue import LAYERS
from cometfuzz.cli.evaluate import app
from cometfuzz.errors import CometfuzzError, InvalidCampaign, UnknownName
from cometfuzz.evaluation import published, rq2
from cometfuzz.evaluation.arms import Arm, arms, folder_of, sigmas
from cometfuzz.evaluation.pictures import band, draw, page
from cometfuzz.evaluation.running import Bounds, Moment, Run, Show, generate, runs
from cometfuzz.evaluation.statistics import a12, compare, holm, mann_whitney, most_comparisons, quartiles
from cometfuzz.evaluation.tables import grid, growth_grid, markdown, pipes, rows_csv, summarise, worth_grid
from cometfuzz.evaluation.unique import Unique, triage_runs, unknowing, waiting
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.versions import usual_view
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import case_id
from cometfuzz.oracles.finding import Finding
from cometfuzz.places import Place
from cometfuzz.routes import Route
from cometfuzz.routes.registry import ROUTES
from cometfuzz.search.rehearsal import rehearse
from cometfuzz.seeds.small import call, chain
from cometfuzz.triage.bug import Bug, Script

BOUNDS = Bounds(cases=12)


def test_statistics_are_those_that_one_finds_by_hand() -> None:
    apart = [6.0, 7, 8, 9, 10], [1.0, 2, 3, 4, 5]
    assert mann_whitney(*apart) == pytest.approx(2 / 252)  # of 252 orders the two that part them
    assert mann_whitney([1.0], [2.0]) is None
    assert (a12(*apart), a12(apart[1], apart[0]), a12([1.0, 2], [1.0, 2])) == (1.0, 0.0, 0.5)
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == pytest.approx({"a": 0.03, "c": 0.06, "b": 0.06})
    assert quartiles([1.0, 2, 3, 4, 5]) == (2.0, 4.0)
    others = {str(number): apart[1] for number in range(7)}
    found = compare(apart[0], others)
    assert [each.p for each in found.values()].count(None) == 1  # the seventh
    assert [most_comparisons(runs, runs) for runs in (2, 5, 7)] == [6, 6, 85]
    seven = compare([*apart[0], 11.0, 12.0], {str(number): [*apart[1], 0.0, -1.0] for number in range(8)})
    assert {each.is_significant for each in seven.values()} == {True}
    assert found["0"].p == pytest.approx(6 * 2 / 252)
    assert (found["0"].size, found["0"].is_significant) == ("large", True)
    assert compare([1.0, 2, 3], {"same": [1.0, 2, 3]})["same"].size == "negligible"


def test_a_run_is_made_once_and_kept(tmp_path: Path) -> None:
    (run,) = runs(tmp_path, arms(["muffin"]), [1], False)
    generate(run, BOUNDS, lambda run, moment: None)
    again = Run.at(tmp_path, Arm("muffin", "muffin"), 1, False)
    assert again == run
    assert again.is_done(BOUNDS)
    assert not again.is_done(Bounds(cases=13))
    assert [moment.cases for moment in run.moments] == list(range(1, 13))
    last = run.moments[-1]
    assert (last.executed, last.covered["inputs"]) == (
        12,
        sum(last.covered[kind] for kind in ("dtype", "rank", "shape")),
    )
    assert (run.totals["inputs"], run.totals["parameters"], run.totals["sequences"]) == (766, 2049, 2170)
    strategy = run.arm.made(1)
    rehearse(strategy, 12)
    assert strategy.coverages[0].covered("inputs") == last.covered["inputs"]
    with pytest.raises(InvalidCampaign, match="expected a run of muffin, seed 1; received another"):
        Run.at(tmp_path, Arm("muffin", "muffin"), 1, executed=True)
    (run.folder / "trace.json").write_text("[" * 9)
    with pytest.raises(InvalidCampaign, match="expected the trace of a run"):
        Run.at(tmp_path, Arm("muffin", "muffin"), 1, False)


def test_arms_are_named_by_strategy_and_switch() -> None:
    assert [arm.sigma for arm in sigmas()][::5] == [5, 30, 55]
    assert folder_of(arms(["comet, nothing first"])[0]) == "comet-nothing-first"
    with pytest.raises(UnknownName):
        arms(["nobody"])


def run_of(arm: str, seed: int, *counts: int) -> Run:
    """As if a case brought so many inputs in all, and took as many seconds as there are letters in its arm's name."""
    run = Run(Arm(arm, arm), seed, Path(arm), False)
    run.totals = dict.fromkeys(("inputs", "parameters", "sequences", "direct", "dtype", "rank", "shape"), 200)
    for cases, count in enumerate(counts, start=1):
        covered = dict.fromkeys(run.totals, count)
        run.moments.append(Moment(cases, cases, 2 * cases, float(cases * len(arm)), 0.0, 20 * cases, covered))
    return run


RUNS = [
    *(run_of("comet", seed, 10, 20 + seed, 30 + seed) for seed in range(1, 6)),
    *(run_of("lemon<b>", seed, 2, 4, 6 + seed, 99) for seed in range(1, 6)),
]


def test_tables_are_read_at_what_all_have_reached() -> None:
    result = summarise("rq1", RUNS, "comet", {"comet": published.RQ1["comet"]})
    cases, cpu = result.tables
    assert cases.title == "after 3 cases"
    assert [row.shares["inputs"] for row in cases.rows] == [(16.5, 16.0, 17.0), (4.5, 4.0, 5.0)]
    assert cpu.title == "after 15.0 CPU seconds"
    assert [row.models for row in cpu.rows] == [3, 1]
    assert (cases.rows[0].executed, cases.rows[0].attempts, cases.rows[0].nodes) == (3, 6, 20)
    against = result.comparisons["inputs"]["lemon<b>"]
    assert (against.a12, against.p) == (1.0, pytest.approx(2 / 252))
    columns, cells = grid(cases)
    assert cells[0][columns.index("inputs")] == "16.5 (69.7)"
    assert cells[0][columns.index("sequences")] == "16.5"
    assert cells[0][columns.index("direct")] == "16.5 (39.0)"
    assert cells[1][columns.index("inputs")] == "4.5"
    assert cells[2][columns.index("inputs")] == "of built models"
    assert len(grid(cases, brief=True)[1]) == 2
    assert growth_grid(RUNS)[1][0][:2] == ["comet", "5.0"]
    plain = json.loads(json.dumps(result.as_plain()))
    assert plain["comparisons"]["inputs"]["lemon<b>"]["significant"] is True
    assert plain["not_comparable"]


def test_runs_are_read_after_cases_that_all_were_looked_at() -> None:
    one, two = run_of("a", 1, 1, 2, 3), run_of("b", 1, 1, 2, 3, 4)
    two.moments = [moment for moment in two.moments if moment.cases != 3]
    assert [row.models for row in summarise("rq1", [one, two], "a", {}).tables[0].rows] == [2, 2]


def test_a_part_that_is_not_missed_needs_a_reason() -> None:
    two = [*RUNS, *(run_of("same", seed, 10, 20 + seed, 30 + seed) for seed in range(1, 6))]
    columns, rows = worth_grid("comet", summarise("rq4", two, "comet", {}).comparisons, {})
    worse = "inputs -12.0, parameters -12.0, sequences -12.0, direct -12.0"
    assert rows == [["lemon<b>", worse, "", "it earns its place"], ["same", "", "", "nothing speaks for it"]]
    assert len(columns) == 4
    turned = summarise("rq4", two, "lemon<b>", {}).comparisons
    (row, _) = worth_grid("lemon<b>", turned, {"comet": "bugs"})[1]
    assert row[:2] == ["comet", ""]
    assert (row[2].split(",")[0], row[3]) == ("inputs +12.0", "bugs")


def test_an_arm_of_ten_models_holds_nobody_back_at_equal_cases() -> None:
    result = summarise("rq1", [*RUNS, run_of("cradle", 1, 5)], "comet", {})
    assert result.tables[0].title == "after 3 cases"
    assert [row.models for row in result.tables[0].rows] == [3, 3, 1]
    assert result.tables[1].title == "after 6.0 CPU seconds"


def test_what_is_written_says_what_cannot_be_compared(tmp_path: Path) -> None:
    result = summarise("rq1", RUNS, "comet", published.RQ1, "cometfuzz evaluate rq1")
    for text in (markdown(result), page(result, draw(RUNS, tmp_path))):
        assert "cometfuzz evaluate rq1" in text
        assert "56 Python and 65 C++ files" in text
        assert "Nothing was executed" in text
    assert "lemon<b>" not in page(result, [])
    for name in ("coverage-over-cases.png", "coverage-over-cpu.png"):
        assert (tmp_path / name).read_bytes()[:4] == b"\x89PNG"
    lines = list(csv.reader(io.StringIO(rows_csv(RUNS))))
    assert len(lines) == 1 + sum(len(run.moments) for run in RUNS)
    assert lines[1][:3] == ["comet", "1", "1"]


def test_a_band_ends_where_the_shortest_run_does() -> None:
    both = [run_of("a", 1, 2, 4, 6), run_of("a", 2, 4, 8)]
    places, middle, low, high = band(both, "inputs", lambda moment: moment.cases)
    assert (places, middle) == ([1, 2], [1.5, 3.0])
    assert all(below <= at <= above for below, at, above in zip(low, middle, high, strict=True))


def test_nothing_published_is_missing_a_criterion() -> None:
    for arm, criterion in product(("comet", "muffin", "lemon", "cradle"), ("inputs", "parameters", "sequences")):
        assert 0 < published.RQ1[arm][criterion] < 100


def campaign_of(out: Path, arm: str, seed: int, *found: Finding, case: Case = campaigning.CASE) -> None:
    """A campaign of an arm whose cases have a finding each."""
    folder = out / arm / str(seed)
    folder.mkdir(parents=True)
    with Store.create(folder / "campaign", campaigning.SETTINGS) as store:
        for index, finding in enumerate(found):
            done = campaigning.case_done(index, 1.0, finding)
            parts = [replace(part, case=case, case_id=case_id(case)) for part in done.parts]
            store.handle(replace(done, case=case, case_id=case_id(case), parts=parts))


def test_kinds_of_faults_are_told_apart_by_arm(tmp_path: Path) -> None:
    crash, nan = campaigning.finding(), campaigning.finding("nonfinite", layer="Dense")
    declared = [campaigning.finding(detail=detail, layer=detail, defect="d-1") for detail in ("one", "two")]
    refused = campaigning.finding("unsupported")
    campaign_of(tmp_path, "comet", 1, refused, crash, nan, crash)
    campaign_of(tmp_path, "comet", 2, crash, *declared)
    campaign_of(tmp_path, "lemon", 1, declared[1])
    found = rq2.gather(list(runs(tmp_path, arms(["comet", "lemon", "muffin"]), [1, 2], True)))
    assert found.runs == {"comet": [1, 2], "lemon": [1]}
    assert {kind.name: kind.seen for kind in found.kinds} == {
        crash.key.strip(): {"comet": {1: 1, 2: 0}},
        nan.key.strip(): {"comet": {1: 2}},
        "d-1": {"comet": {2: 1}, "lemon": {1: 0}},
    }
    assert (found.by_run("comet"), found.by_run("lemon")) == ([2.0, 2.0], [1.0])
    assert found.shared == {("comet",): 2, ("comet", "lemon"): 1}
    columns, cells = rq2.arm_grid(found)
    assert dict(zip(columns, cells[0], strict=True)) == {
        "arm": "comet",
        "n": "2",
        "kinds": "3",
        "not in ledger": "2",
        "limits": "0",
        "of converters": "0",
        "alone": "2",
        "median of a run": "2",
        "crash": "2",
        "nonfinite": "1",
    }
    columns, (first, *others) = rq2.library_grid(found)
    assert (columns, first) == (["library", "comet", "lemon", "published"], ["TensorFlow", "3", "1", "1 (1)"])
    assert ["PyTorch", "0", "0", "0 (0)"] in others
    assert others[-1][-1] == "of 2021 and 2022, as developers told them apart"
    assert rq2.shared_grid(found)[1] == [["x", "", "2"], ["x", "x", "1"]]
    assert ["d-1", "crash", "2, 0 s (1)", "1, 0 s (1)"] in rq2.sight_grid(found)[1]
    assert crash.key.strip().replace("|", "\\|") in pipes(*rq2.sight_grid(found))
    assert json.loads(json.dumps(found.as_plain()))["arms"]["comet"]["kinds"] == 3
    assert found.best_other == ("lemon", 1)


FAILS = {"Conv2D": "keras-tf", "Dense": "keras-torch"}
"""Which layer fails on which route, in the triage of a test."""


def failing(layer: str, **more: Any) -> Finding:
    return replace(crash_of(FAILS[layer], "keras-jax"), layer=layer, **more)


def having(layer: str) -> Condition:
    return lambda graph: any(node.layer == layer for node in graph.nodes)


def ledgerless(routes: Sequence[Route]) -> Executor:
    """Stands in for libraries, of which nothing is known."""
    conditions = {route: having(layer) for layer, route in FAILS.items()}
    return cast(Executor, nullcontext(Acting(conditions, (*conditions, "keras-jax"))))


def shown(bug: Bug, routes: Mapping[str, Route], executor: Executor) -> Script:
    return Script("import keras", "main", True, 1, "")


def test_bugs_are_those_of_all_campaigns_with_nothing_known(tmp_path: Path) -> None:
    declared = failing("Conv2D", defect="keras-tf-add-value")
    dense = Case(chain((2, 3), call("Dense", units=2)), 1)
    campaign_of(tmp_path, "comet", 1, campaigning.finding("unsupported"), failing("Conv2D"))
    campaign_of(tmp_path, "comet", 2, failing("Dense"), case=dense)
    campaign_of(tmp_path, "lemon", 1, declared, declared)
    campaign_of(tmp_path, "lemon", 2, failing("Dense"), case=dense)
    every = list(runs(tmp_path, arms(["comet", "lemon"]), [1, 2], True))
    steps: list[str] = []

    def show(step: Step) -> None:
        steps.append(step.step)

    def triaged(limit_s: float | None = None) -> Unique:
        return triage_runs(every, Place(tmp_path), ROUTES, show, limit_s, ledgerless, shown)

    assert (triaged(-1.0).bugs, waiting(every, Unique())) == ({}, {"comet": 2, "lemon": 2})
    unique = triaged()
    found = rq2.unique_bugs(every, unique, waiting(every, unique))
    by_layer = {kind.name.split()[0]: kind for kind in found.kinds}
    assert {name: kind.seen for name, kind in by_layer.items()} == {
        "Conv2D": {"comet": {1: 1}, "lemon": {1: 0}},
        "Dense": {"comet": {2: 0}, "lemon": {2: 0}},
    }
    assert by_layer["Conv2D"].ledger == "bug"
    assert (found.waiting, found.shared) == ({"comet": 0, "lemon": 0}, {("comet", "lemon"): 2})
    assert len(unique.settled) == 5
    assert rq2.trigger_grid(found)[0] == ["trigger", "comet", "lemon", "published"]
    columns, (comet, lemon) = rq2.arm_grid(found)
    assert dict(zip(columns, comet, strict=True))["not in ledger"] == "1"
    assert dict(zip(columns, lemon, strict=True))["not looked into"] == "0"
    assert json.loads(json.dumps(rq2.as_plain([found], "x")))["bugs"]["arms"]["lemon"]["median_by_run"] == 1
    steps.clear()
    again = triaged()
    assert (again.settled, again.bugs.keys(), steps) == (unique.settled, unique.bugs.keys(), [])
    hidden = Script("import keras", "main", False, 0, "")
    unshown = replace(unique, bugs={name: replace(bug, script=hidden) for name, bug in unique.bugs.items()})
    assert rq2.unique_bugs(every, unshown, {}).kinds == []


def test_the_ledger_says_nothing_to_the_triage_of_an_experiment() -> None:
    routes = [ROUTES["keras-tf"], ROUTES["onnxruntime"]]
    names = [layer for layer in LAYERS if any(usual_view().rules_of(route.name, layer) for route in routes)]
    assert len(names) > 5
    with unknowing(routes) as executor:
        assert executor.pause_after == 0
        assert not any(executor.view.rules_of(route.name, layer) for route in routes for layer in names)
        assert executor.view.versions["keras-tf"]["keras"]


def test_spoilt_bugs_are_refused(tmp_path: Path) -> None:
    for text in ("[" * 9, "{}", '{"bugs": [], "findings": [[["comet", 1, 0, 0, 0], {"bug_id": "0123456789"}]]}'):
        (tmp_path / "bugs.json").write_text(text)
        with pytest.raises(InvalidCampaign, match="expected the bugs of an experiment; received"):
            Unique.of(Place(tmp_path))


def test_the_command_goes_on_after_ctrl_c(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = ["rq4", "--seeds", "2", "--cases", "6", "--arms", "comet,comet-o", "--out", str(tmp_path), "--json"]
    made: list[str] = []

    def stopping(run: Run, bounds: Bounds, show: Show) -> None:
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append(run.arm.name)
        generate(run, bounds, show)

    with monkeypatch.context() as patched:
        patched.setattr("cometfuzz.evaluation.running.generate", stopping)
        ended = CliRunner().invoke(app, command)
    assert ended.exit_code == 130
    assert (made, (tmp_path / "tables.md").exists()) == (["comet", "comet-o"], True)
    before = (tmp_path / "comet" / "1" / "trace.json").read_bytes()
    ended = CliRunner().invoke(app, command)
    assert ended.exit_code == 0
    (at_cases, _) = json.loads(ended.stdout[ended.stdout.index("{") :])["tables"]
    assert [(row["arm"], row["runs"], row["models"]) for row in at_cases["rows"]] == [
        ("comet", 2, 6),
        ("comet-o", 2, 6),
    ]
    assert (tmp_path / "comet" / "1" / "trace.json").read_bytes() == before
    written = CliRunner().invoke(app, ["page", str(tmp_path), "--out", str(tmp_path / "page.md")])
    assert written.exit_code == 0
    text = (tmp_path / "page.md").read_text()
    assert "    cometfuzz evaluate rq4 --seeds 2 --cases 6 --arms comet,comet-o --generated\n" in text
    assert "(69.7)" in text
    assert "| of built models |" in text
    for wrong in (
        ["rq1", "--arms", "nobody"],
        ["page", str(tmp_path / "comet")],
        ["rq2", "--out", str(tmp_path / "none")],
    ):
        assert isinstance(CliRunner().invoke(app, wrong).exception, CometfuzzError)
