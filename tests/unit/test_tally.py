"""The numbers of a campaign, from its events."""

import pytest
from campaigning import SETTINGS, campaign, case_done, covered, finding, result

from cometfuzz.campaign.events import Ended, Notice, Started
from cometfuzz.reports.tally import LATEST, MEDIAN_OF, Tally


def tallied(*events: object, known: tuple[str, ...] = ()) -> Tally:
    tally = Tally(known)
    for event in events:
        tally.handle(event)  # type: ignore[arg-type]
    return tally


def test_findings_are_counted_by_key_and_in_all() -> None:
    same = finding(detail="another stride")
    other = finding("value", "torch", "Dense", "off", data_kind="overflow")
    tally = tallied(case_done(0, 1.0, finding(), other), case_done(1, 2.0, same))
    assert {name: (count.distinct, count.total) for name, count in tally.symptoms.items()} == {
        "crash": (1, 2),
        "value": (1, 1),
    }
    assert (tally.data_kinds["ordinary"].total, tally.data_kinds["overflow"].total) == (2, 1)
    assert (tally.distinct, tally.found) == (2, 3)
    assert tally.libraries == {"tensorflow": 1, "torch": 1}
    assert [sighting.index for sighting in tally.latest] == [0, 0]


def test_what_does_not_count_is_counted_apart() -> None:
    aside = (
        finding("unsupported"),
        finding("refused"),
        finding(defect="declared"),
        finding("unsupported", defect="declared"),
    )
    tally = tallied(case_done(0, 1.0, *aside))
    assert tally.not_counted == {"unsupported": 1, "refused": 1, "known defect": 2}
    assert (tally.distinct, tally.found) == (0, 0)


def test_a_key_of_an_earlier_run_is_found_but_not_new() -> None:
    tally = tallied(case_done(0, 1.0, finding()), known=(finding().key,))
    assert (tally.distinct, tally.found) == (0, 1)
    assert not tally.latest


def test_fresh_is_what_the_last_event_brought() -> None:
    tally = tallied(case_done(0, 1.0, finding()))
    assert [sighting.finding.symptom for sighting in tally.fresh] == ["crash"]
    tally.handle(Notice("a route is paused"))
    assert tally.fresh == []


def test_the_health_of_a_route() -> None:
    statuses = ("completed", "exception", "signal", "timeout", "memory", "oversized", "not reached")
    tally = tallied(case_done(0, 1.0, results=tuple(result("keras-tf", status) for status in statuses)))
    health = tally.routes["keras-tf"]
    assert (health.runs, health.completed, health.failed, health.not_reached, health.restarts) == (7, 1, 5, 1, 4)
    assert health.failed_by_kind == {"raised": 1, "died": 2, "hung": 1, "other": 1}


def test_a_route_is_unavailable_as_long_as_it_says_so() -> None:
    tally = tallied(case_done(0, 1.0, results=(result("tf-xla", "unavailable"),)))
    assert (tally.routes["tf-xla"].available, tally.routes["tf-xla"].runs) == (False, 0)
    tally.handle(case_done(1, 2.0, results=(result("tf-xla"),)))
    assert tally.routes["tf-xla"].available


def test_the_median_is_of_the_last_completed_runs() -> None:
    tally = tallied(case_done(0, 1.0, results=(result("keras-tf", "exception", 9.0),)))
    assert tally.routes["keras-tf"].median_ms is None
    for index, wall_s in enumerate([5.0] * MEDIAN_OF + [0.25] * MEDIAN_OF):
        tally.handle(case_done(index, 1.0, results=(result("keras-tf", wall_s=wall_s),)))
    assert tally.routes["keras-tf"].median_ms == 250.0


def test_rates_over_the_last_minute_and_overall() -> None:
    quick = [case_done(index, index / 10) for index in range(600)]
    tally = tallied(Started(SETTINGS, 0, covered(0)), *quick)
    assert tally.recent_rate(60.0) == pytest.approx(10)
    assert tally.recent_rate(90.0) == pytest.approx(5)
    assert tally.recent_rate(200.0) == 0
    assert tally.speeds(60.0) == [10.0] * 12
    assert tally.speeds(70.0) == [10.0] * 10 + [0.0] * 2
    assert tally.rate() == pytest.approx(600 / 59.9)


def test_a_resumed_campaign_counts_its_own_speed_and_all_cases() -> None:
    resumed = Started({**SETTINGS, "cases": 120, "minutes": None}, 100, covered(100), elapsed_s=1000.0)
    tally = tallied(resumed, *[case_done(100 + index, 1001.0 + index) for index in range(10)])
    assert (tally.done, tally.cases) == (110, 10)
    assert tally.rate() == 1.0
    assert tally.recent_rate(1010.0) == 1.0
    assert tally.progress(1010.0) == pytest.approx(110 / 120)
    assert tally.left_s(1010.0) == pytest.approx(10.0)


@pytest.mark.parametrize(
    ("limits", "progress", "left_s"),
    [
        ({"minutes": 1}, 0.5, 30.0),
        ({"cases": 40}, 0.75, 10.0),
        ({"minutes": 1, "cases": 40}, 0.75, 10.0),
        ({"minutes": 0.25}, 1.0, 0.0),
        ({}, None, None),
    ],
)
def test_what_is_left_follows_from_the_nearest_limit(
    limits: dict[str, float], progress: float | None, left_s: float | None
) -> None:
    tally = tallied(Started(limits, 0, covered(0)), *[case_done(index, index + 1.0) for index in range(30)])
    assert tally.progress(30.0) == progress
    assert tally.left_s(30.0) == left_s


def test_the_end_has_the_last_word() -> None:
    tally = tallied(case_done(0, 1.0), Ended("interrupted", 7, 12.5, covered(7), 1.0, 2.0))
    assert (tally.done, tally.elapsed_s, tally.coverage) == (7, 12.5, covered(7))


def test_memory_is_bounded() -> None:
    tally = Tally()
    for event in campaign(3000):
        tally.handle(event)
    for index in range(3 * LATEST):
        tally.handle(case_done(index, 9000.0 + index, finding(layer=f"Layer{index}", evidence={"large": "x" * 1000})))
    assert len(tally.latest) == LATEST
    assert not any(sighting.finding.evidence for sighting in tally.latest)
    assert max(len(health.recent_ms) for health in tally.routes.values()) == MEDIAN_OF
    assert len(tally._by_second) <= 120
