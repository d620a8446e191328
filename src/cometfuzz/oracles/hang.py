"""Hang: a stage exceeded its limit while the same case took others a small fraction of it."""

from collections.abc import Iterator

from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.finding import Camp, Finding

FRACTION = 0.2


def hang(bench: Bench) -> Iterator[Finding]:
    """One finding for all routes that hang in one stage."""
    stuck: dict[tuple[str, str], list[str]] = {}
    for outcome in bench.trial.outcomes.values():
        if (outcome.cause or outcome.status) == "timeout":
            stuck.setdefault((outcome.stage, outcome.library), []).append(outcome.route)
    quick = {name: outcome.wall_s for name, outcome in bench.completed.items()}
    for (stage, library), routes in stuck.items():
        first = bench.trial.outcomes[routes[0]]
        limit = max((time.wall_s for time in first.times), default=0.0) or first.wall_s
        others = tuple(name for name, wall_s in quick.items() if wall_s <= FRACTION * limit)
        if others:
            slowest = max(quick[name] for name in others)
            yield Finding(
                oracle="hang",
                symptom="hang",
                data_kind=bench.data_kind(),
                camps=(Camp(tuple(routes), str(first)), Camp(others, f"completed in at most {slowest:.2g} s")),
                stage=stage,
                library=library,
                detail=str(first),
                failure="timeout",
            )
