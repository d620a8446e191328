"""A campaign without libraries: real strategies, made-up feedback, events as the loop sends them."""

from collections import deque
from collections.abc import Iterator

from cometfuzz.campaign.events import CaseDone, Executed, RouteResult, Summary
from cometfuzz.campaign.records import Records
from cometfuzz.coverage.gain import summary_of
from cometfuzz.draw import Draw
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import case_id
from cometfuzz.oracles.finding import Camp, Finding
from cometfuzz.search.strategies import Feedback, Options, Strategy, make_strategy
from cometfuzz.seeds.small import SMALL

WINDOW = 3
SETTINGS = {"strategy": "comet", "seed": 7, "window": WINDOW}


def fresh(name: str = "comet", seed: int = 7) -> Strategy:
    return make_strategy(name, Options(seed, [make() for make in SMALL.values()]))


def feedback_of(index: int) -> Feedback:
    """By index alone, as if some cases failed and some gave NaN."""
    draw = Draw("feedback", index)
    return Feedback(executed=draw.chance(0.8), nonfinite=draw.chance(0.1))


def campaign(strategy: Strategy, start: int = 0, flying: list[Case] | None = None) -> Iterator[CaseDone]:
    """Events without end, from case `start` on with the cases that are in flight there."""
    waiting = deque(flying or ())
    index = start
    while True:
        while len(waiting) < WINDOW:
            waiting.append(strategy.propose())
        case, feedback = waiting.popleft(), feedback_of(index)
        strategy.learn(case, feedback)
        coverage = summary_of(strategy.coverages)
        yield event(index, case, feedback, coverage)
        index += 1


def event(index: int, case: Case, feedback: Feedback, coverage: Summary) -> CaseDone:
    name = case_id(case)
    status = "completed" if feedback.executed else "exception"
    return CaseDone(
        index=index,
        case_id=name,
        operator="IL",
        nodes=len(case.graph.nodes),
        feedback=feedback.as_plain(),
        gained={"paper": 1, "full": 2},
        parts=(
            Executed(0, case, name, [result("keras-tf", status), result("keras-torch", "completed")], 0.25, [FINDING]),
        ),
        coverage=coverage,
        branches=None,
        operators={"IL": {"attempts": index + 1.0, "applied": 1.0, "fitness": 0.5}},
        elapsed_s=index / 2,
        case=case,
    )


def result(route: str, status: str = "completed", detail: str = "") -> RouteResult:
    failure = None if status == "completed" else {"type": "ValueError", "message": "no", "kinds": [], "frames": []}
    magnitude = 0.5 if status == "completed" else None
    return RouteResult(route, status, "run", "keras", 0.5, 0.25, detail, failure, {"keras": "3.12"}, magnitude)


FINDING = Finding(
    oracle="crash",
    symptom="crash",
    data_kind="ordinary",
    camps=(Camp(("keras-tf",), "ValueError"), Camp(("keras-torch", "reference"), "completed")),
    stage="build",
    library="keras",
    detail="=cmd(): no",
    layer="Conv2D",
    failure="ValueError no",
    evidence={"largest": float("inf"), "shape": [1, 2]},
)


def last_coverage(records: Records) -> dict[str, dict[str, int]]:
    """The counts of the last point of the curve."""
    covered: dict[str, dict[str, int]] = {}
    for point in records.curve():
        covered = {space: dict(counts) for space, counts in point.covered.items()}
    return covered


def counts(summary: Summary) -> dict[str, dict[str, int]]:
    return {
        space: {criterion: count["covered"] for criterion, count in criteria.items()}
        for space, criteria in summary.items()
    }
