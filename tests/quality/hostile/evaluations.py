"""Folders of experiments that somebody else has written."""

import json
from collections.abc import Callable

from hostile.rows import ESCAPE, Place, Row

RQ2 = ("evaluate", "rq2", "--out", "x", "--arms", "comet", "--seeds", "1", "--no-triage")
GENERATED = ("evaluate", "rq4", "--arms", "comet", "--seeds", "1", "--cases", "1", "--out", "x")
PAGE = ("evaluate", "page", "x")
MISSED = ("evaluate", "uncovered", "x")
TABLE = {"a": [["arm"], [["comet"]]]}


def having(name: str, content: object) -> Callable[[Place], object]:
    """A file below the folder `x`."""

    def make(place: Place) -> None:
        path = place.work / "x" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))

    return make


def leading(name: str) -> Callable[[Place], object]:
    """A link that leads out of the folder `x`."""

    def make(place: Place) -> None:
        having("y", "")(place)
        (place.outside / "theirs").write_text("{}")
        (place.work / "x" / name).parent.mkdir(parents=True, exist_ok=True)
        (place.work / "x" / name).symlink_to(place.outside / "theirs")

    return make


def section(**more: object) -> dict[str, object]:
    return {"name": "rq1", "command": "c", "machine": "m", "says": [], "tables": TABLE, **more}


def with_campaign(name: str, content: str) -> Callable[[Place], object]:
    def make(place: Place) -> None:
        having("comet/1/y", "")(place)
        place.campaign().rename(place.work / "x" / "comet" / "1" / "campaign")
        having(name, content)(place)

    return make


ROWS = (
    Row("evaluation-trace-deep", GENERATED, having("comet/1/trace.json", "[" * 10_000), words=("trace.json",)),
    Row("evaluation-trace-link", GENERATED, leading("comet/1/trace.json"), words=("symbolic link",)),
    Row("evaluation-no-campaign", RQ2, having("y", ""), words=("received none",)),
    Row("evaluation-bugs-deep", RQ2, with_campaign("bugs.json", "[" * 10_000), words=("bugs.json",)),
    Row("evaluation-bugs-nan", RQ2, with_campaign("bugs.json", '{"bugs": NaN, "findings": []}'), words=("bugs.json",)),
    Row("evaluation-page-nothing", PAGE, having("y", ""), words=("received none",)),
    Row("evaluation-page-deep", PAGE, having("section-rq1.json", "[" * 10_000), words=("section-rq1.json",)),
    Row("evaluation-page-link", PAGE, leading("section-rq1.json"), words=("symbolic link",)),
    Row("evaluation-page-ragged", PAGE, having("section-rq1.json", section(tables={"a": [["b"], [[]]]}))),
    Row("evaluation-page-escape", PAGE, having("section-rq1.json", section(name=ESCAPE, says=[ESCAPE])), codes=(0,)),
    Row("evaluation-page-proc", (*PAGE, "--out", "/proc/x"), having("section-rq1.json", section()), words=("/proc/x",)),
    Row("evaluation-branches-nothing", MISSED, having("y", ""), words=("received none",)),
    Row("evaluation-branches-deep", MISSED, having("a/branches.json", "[" * 10_000), words=("branches.json",)),
    Row("evaluation-branches-other", MISSED, having("a/branches.json", {"keras": 1}), words=("branches.json",)),
    Row("evaluation-nnsmith-deep", ("evaluate", "nnsmith", "--out", "x"), having("1.json", "[" * 10_000)),
    Row("evaluation-synthesis", ("evaluate", "rq3", "--out", "x"), having("synthesis.json", '{"summary": 1}')),
)
