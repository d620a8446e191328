"""Crash: a stage failed on some routes. Camps are routes that failed in the same way, then those that completed."""

from collections.abc import Iterator

from cometfuzz.execution.outcome import Failure, Outcome
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.finding import Camp, Finding, Symptom, template
from cometfuzz.oracles.stages import excuses_failure
from cometfuzz.routes.registry import base_of

DEATHS = ("signal", "exited", "memory", "oversized", "protocol")
STATIC = "StaticTypeMismatch"
"""Raised by our builder where Keras' symbolic shape or dtype is not what the catalogue predicts: the shape oracle's."""

Key = tuple[str, str, str, str, str]


def crash(bench: Bench) -> Iterator[Finding]:
    """One finding for each way of failing."""
    failed: dict[Key, list[Outcome]] = {}
    for outcome in bench.trial.outcomes.values():
        if _follows(bench, outcome):
            continue
        ended, failure = outcome.cause or outcome.status, outcome.failure
        if ended in DEATHS or (ended == "exception" and failure and failure.type != STATIC and not failure.disk_full):
            failed.setdefault(_key(outcome), []).append(outcome)
    for (status, stage, library, kind, text), outcomes in failed.items():
        first = outcomes[0]
        symptom = _symptom(bench, outcomes)
        camps = [Camp(tuple(outcome.route for outcome in outcomes), str(first))]
        if bench.completed:
            camps.append(Camp(tuple(bench.completed), "completed"))
        yield Finding(
            oracle="crash",
            symptom=symptom,
            data_kind=bench.data_kind(),
            camps=tuple(camps),
            stage=stage,
            library=library,
            detail=str(first),
            defect=_defect(bench, outcomes),
            failure=f"{kind or status}: {text}" if text else kind or f"{status} {first.detail}",
            evidence={
                "status": status,
                "printed": first.printed[-2000:],
                "frames": list(first.failure.frames) if first.failure else [],
                "message": first.failure.message if first.failure else first.detail,
                "against": "some routes" if bench.completed else "the reference",
            },
        )


def _follows(bench: Bench, outcome: Outcome) -> bool:
    """Whether the model raises on its own front end already: what a converter says of it then is no finding."""
    base = bench.trial.outcomes.get(base_of(outcome.route) or bench.view.base_of(outcome.route) or "")
    return base is not None and base.status == outcome.status == "exception"


def _key(outcome: Outcome) -> Key:
    failure = outcome.failure
    kind, text = (failure.type, template(failure.message)) if failure else ("", "")
    return outcome.cause or outcome.status, outcome.stage, outcome.library, kind, text


def _symptom(bench: Bench, outcomes: list[Outcome]) -> Symptom:
    failure = outcomes[0].failure
    if failure is None:
        return "death"
    if failure.says_unsupported or _is_switched_off(bench, outcomes, failure):
        return "unsupported"
    return "refused" if _refused(bench, outcomes) else "crash"


def _is_switched_off(bench: Bench, outcomes: list[Outcome], failure: Failure) -> bool:
    """Whether all these routes have a switch set, and say that they lack what it takes away."""
    routes = [bench.view.routes.get(outcome.route) for outcome in outcomes]
    return all(
        route is not None and route.switch is not None and any(text in failure.message for text in route.switch.lacks)
        for route in routes
    )


def _refused(bench: Bench, outcomes: list[Outcome]) -> bool:
    """Whether it is Keras' own argument check, the same on every Keras route."""
    failure = outcomes[0].failure
    if failure is None or failure.type != "ValueError" or not failure.frames:
        return False
    where = failure.frames[-1].split(":")[0].replace("\\", "/")
    own = "/keras/src/" in where and "/backend/" not in where.replace("/backend/common/", "/")
    keras = [name for name in bench.trial.outcomes if name.startswith("keras")]
    same = {outcome.route for outcome in outcomes}
    return own and all(name in same for name in keras) and len(keras) > 1


def _defect(bench: Bench, outcomes: list[Outcome]) -> str:
    """The id of the defect that explains this failure, if one does."""
    first = outcomes[0]
    kinds = {first.failure.type, *first.failure.kinds} if first.failure else set()
    for outcome in outcomes:
        for rule in bench.rules(outcome.route):
            raised = rule.symptom == "exception" and rule.raises in kinds
            fits = rule.symptom == "any" or raised or (rule.symptom == "death" and not kinds)
            if fits and excuses_failure(bench, rule, outcome):
                return rule.id
    return ""
