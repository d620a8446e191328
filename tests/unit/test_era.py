"""The paper's own versions: routes that speak Keras 2 alone, and how a finding is recognised as one of its bugs."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from trials import chain

from cometfuzz.catalogue.spec import CATALOGUE, KERAS2, KERAS3
from cometfuzz.cli.evaluate_era import _section
from cometfuzz.config import Config, decode
from cometfuzz.errors import CometfuzzError
from cometfuzz.evaluation import era
from cometfuzz.evaluation.arms import arms
from cometfuzz.evaluation.era import bug_grid, bugs_csv, configuration, gather, headline, routes_of
from cometfuzz.evaluation.page import sections
from cometfuzz.evaluation.paper_bugs import BUGS, HIDDEN, SHOWS, Sighting, counted, verdicts
from cometfuzz.evaluation.running import Run
from cometfuzz.evaluation.tables import summarise
from cometfuzz.execution.configuring import configured
from cometfuzz.execution.policy import assign, joined
from cometfuzz.execution.sayable import generation_of
from cometfuzz.execution.versions import usual_view, view_of
from cometfuzz.ir.case import Case
from cometfuzz.ledger.matching import without_ledger
from cometfuzz.mutation.dialect import Dialects
from cometfuzz.oracles.finding import Camp, Finding
from cometfuzz.reports.published_bugs import DETECTED
from cometfuzz.routes.registry import ROUTES

CONFIG = decode(era.FILE.read_bytes(), str(era.FILE), Config)
KERNEL = {"filters": 2, "kernel_size": (2, 2)}
CONV = ("Conv2D", KERNEL)
INF = ("scale", {"value": "inf"})
THRESHOLDED = ("ThresholdedReLU", dict[str, Any]())


def finding(symptom: str, *routes: str, **more: Any) -> Finding:
    given: dict[str, Any] = {"oracle": symptom, "data_kind": "ordinary", "stage": "run", "library": "keras"}
    return Finding(**{**given, "symptom": symptom, "camps": (Camp(routes, "wrong"),), "detail": "wrong", **more})


def crash(message: str, *routes: str, **more: Any) -> Finding:
    return finding("crash", *routes, **more, evidence={"message": message})


def found(case: Case, shown: Finding) -> list[str]:
    """The issues that a finding is recognised as."""
    seen = verdicts({"comet": [Sighting.of(3, shown, case)]})
    assert all(each.first == {"comet": 3} for each in seen if each.found)
    return [each.bug.issue for each in seen if each.found]


def lost(layer: str, *routes: str, kind: str = "special", node: str = "n0") -> Finding:
    return finding("nonfinite", *routes, node=node, layer=layer, data_kind=kind)


def test_the_list_is_that_of_the_paper() -> None:
    assert (len(BUGS), sum(bug.count for bug in BUGS)) == (31, 32)
    assert sum(each.total for each in DETECTED.values()) == 32
    assert len({bug.issue for bug in BUGS}) == 31
    assert sum(bug.count for bug in BUGS if bug.standing == SHOWS) == 10
    assert sum(bug.count for bug in BUGS if bug.standing == HIDDEN) == 2
    assert all(bug.why for bug in BUGS), "a reason for each that may be missed"
    assert [bug.issue for bug in BUGS if (bug.is_seen is not None) != (bug.standing == SHOWS)] == []


def test_each_bug_that_shows_is_recognised_by_its_route_layer_symptom_and_parameters() -> None:
    image, narrow = (1, 4, 4, 2), chain((1, 4, 4, 2), CONV, dtype="bfloat16")
    pooled = chain(image, ("MaxPooling2D", {}))
    assert found(pooled, lost("MaxPooling2D", "era-keras", "era-graph")) == ["Keras 16158"]
    assert found(
        chain((1, 2, 4, 1, 1), ("ConvLSTM2D", KERNEL | {"kernel_size": (1, 1)})), lost("ConvLSTM2D", "era-keras")
    )
    biased = 'calling layer "n0" (type Conv2D). cannot compute BiasAdd as input #1 was expected to be a float'
    assert found(narrow, crash(biased, "era-keras")) == ["Keras 16927"]
    unread = crash("No cast function available.", "era-h5", stage="load")
    assert found(narrow, unread) == ["Keras 17069"]
    assert found(chain((1, 4), ("Dense", {"units": 2}), dtype="bfloat16"), unread) == ["Keras 17069"]
    twice = chain(image, THRESHOLDED, THRESHOLDED)
    unnamed = crash("Cannot find node with output 'x' in graph 'y'", "era-onnxruntime", stage="tf2onnx")
    assert found(twice, unnamed) == ["tf2onnx 1811"]
    product = lost("Conv2D > scale", "era-onnxruntime", node="n1")
    assert found(chain(image, CONV, INF), product) == ["ONNX Runtime 11173"]
    clipped = chain(image, CONV, INF, ("ReLU", {"max_value": 6.0}))
    assert found(clipped, lost("Conv2D > scale > ReLU", "era-onnxruntime", node="n2")) == ["tf2onnx 1875"]


@pytest.mark.parametrize(
    ("case", "shown"),
    [
        (chain((1, 4, 4, 2), ("MaxPooling2D", {})), lost("MaxPooling2D", "era-onnxruntime")),
        (chain((1, 4, 4, 2), ("MaxPooling2D", {})), lost("MaxPooling2D", "era-keras", kind="ordinary")),
        (chain((1, 4, 2), ("MaxPooling1D", {})), lost("MaxPooling1D", "era-keras")),
        (chain((1, 4, 4, 2), CONV), crash("(type Conv2D). BiasAdd", "era-keras")),  # in float32
        (chain((1, 4, 4, 2), CONV, dtype="bfloat16"), crash("(type Conv2D). no kernel", "era-keras")),
        (chain((1, 4, 4, 2), CONV, dtype="bfloat16"), crash("(type Conv2D). BiasAdd", "era-saved")),
        (chain((1, 4), ("ReLU", {}), dtype="bfloat16"), crash("No cast function available.", "era-h5", stage="load")),
        (chain((1, 4), ("Dense", {"units": 2})), crash("No cast function available.", "era-h5", stage="load")),
        (
            chain((1, 4), ("Dense", {"units": 2}), dtype="bfloat16"),
            crash("No cast function available.", "era-h5", "era-saved", stage="load"),
        ),
        (
            chain((1, 4), THRESHOLDED, ("ReLU", {}), THRESHOLDED),
            crash("Cannot find node with output", "era-onnxruntime", stage="tf2onnx"),
        ),
        (chain((1, 4), THRESHOLDED, THRESHOLDED), crash("something else", "era-onnxruntime", stage="tf2onnx")),
        (chain((1, 4), ("Dense", {"units": 2}), INF), lost("Dense > scale", "era-onnxruntime", node="n1")),
        (chain((1, 4, 4, 2), CONV, INF), lost("Conv2D > scale", "era-onnxruntime", "era-keras", node="n1")),
        (
            chain((1, 4, 4, 2), CONV, ("scale", {"value": "nan"})),
            lost("Conv2D > scale", "era-onnxruntime", node="n1"),
        ),
        (
            chain((1, 4, 4, 2), ("MaxPooling2D", {})),
            replace(lost("MaxPooling2D", "era-keras"), symptom="unsupported"),
        ),
    ],
)
def test_what_is_only_like_a_bug_is_not_it(case: Case, shown: Finding) -> None:
    assert found(case, shown) == []


def test_a_bug_that_was_not_found_has_a_reason_and_one_that_was_has_its_first_case() -> None:
    pooled, shown = chain((1, 4, 4, 2), ("MaxPooling2D", {})), lost("MaxPooling2D", "era-keras")
    seen = verdicts({"directed": [Sighting(9, shown, pooled), Sighting(4, shown, pooled)], "odd": []})
    assert counted(seen) == (1, 32)
    assert counted(seen, SHOWS) == (1, 10)
    made = era.Era(summarise("era", [], "directed", {}), {}, seen, {"directed": (2, 1)})
    assert headline(made).startswith("Of the paper's 32 bugs 1 were found; of the 10 that")
    columns, rows = bug_grid(made)
    by_issue = {row[0]: dict(zip(columns, row, strict=True)) for row in rows}
    assert by_issue["Keras 16158"]["found"] == "directed: case 4"
    assert [row for row in rows if (row[3] == "no") != bool(row[4])] == []
    assert "Keras 16314 (counts twice)" in by_issue
    plain = json.loads(json.dumps(made.as_plain()))
    assert (plain["bugs"]["found_of_those_that_show"], plain["bugs"]["that_show"]) == (1, 10)
    assert len(bugs_csv(made).splitlines()) == 32
    assert "## The paper's bugs" in era.as_markdown(made)


def test_the_routes_of_the_era_lead_to_the_eight_libraries_and_hdf5() -> None:
    routes = {name: route for name, route in configured(CONFIG).items() if name in CONFIG.routes}
    libraries = {stage.library for route in routes.values() for stage in route.stages}
    assert libraries == {
        *("keras", "tensorflow", "torch", "mxnet", "keras-mxnet", "onnxruntime", "tf2onnx", "onnx2pytorch"),
    }
    assert {step.group.environment for route in routes.values() for step in route.steps} == {"era", "era-mxnet"}
    assert {route.speaks for route in routes.values()} == {KERAS2}
    assert routes["era-h5"].like == "keras-h5"
    assert any(view_of(routes).rules_of("era-mxnet", layer) for layer in CATALOGUE), "it is the release of today"
    with without_ledger():
        view = view_of(routes)
        assert not any(view.rules_of(name, layer) for name in routes for layer in CATALOGUE)
    assert all(view.versions[name] for name in routes)
    assert usual_view().rules_of("keras-tf", "Dense"), "it is known again"


def test_a_campaign_on_keras_2_alone_speaks_it_throughout() -> None:
    routes = {name: route for name, route in configured(CONFIG).items() if name in CONFIG.routes}
    policy, view = joined(CONFIG.policy, routes.values()), view_of(routes)
    assert generation_of(policy.base, routes) == KERAS2
    assert generation_of(["keras-tf"], ROUTES) == generation_of([], ROUTES) == KERAS3
    dialects = Dialects.on(view, policy.base, policy.only)
    assert dialects.modern is dialects.legacy
    assert dialects.modern.has("ThresholdedReLU")
    assert not dialects.modern.has("RMSNormalization")
    thresholded = chain((2, 3), THRESHOLDED)
    lacking = {name: {"n0": 0} for name in policy.converters}
    taking = {name for part in assign(policy, view, thresholded, 0, 1, lacking) for name in part.routes}
    assert {"era-keras", "era-onnxruntime", "era-h5"} <= taking, "a layer of Keras 2 goes to converters, too"


def test_environments_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COMETFUZZ_CACHE", str(tmp_path))
    with pytest.raises(CometfuzzError, match=r"received none of era, era-mxnet: `cometfuzz env create era era-mxnet`$"):
        routes_of(configuration(Config()))


def test_runs_that_have_not_begun_have_found_nothing(tmp_path: Path) -> None:
    (arm,) = arms(["directed"])
    made = gather(summarise("era", [], "directed", {}), [Run.at(tmp_path, arm, 1, True)])
    assert (made.reached, made.findings, counted(made.verdicts)) == ({}, {}, (0, 32))


def test_the_page_of_all_experiments_has_a_section_of_this_one(tmp_path: Path) -> None:
    runs = [Run.at(tmp_path, arms(["comet"])[0], 1, True)]
    found = gather(summarise("era", runs, "comet", {}), runs)
    _section(found, "cometfuzz evaluate era").save(tmp_path)
    (only,) = sections(tmp_path)
    assert (only.name, only.command, "the paper's bugs" in only.tables) == ("era", "cometfuzz evaluate era", True)
