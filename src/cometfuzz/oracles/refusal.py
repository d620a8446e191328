"""Refusal: what libraries do with a call that breaks a rule. They should say so; how they say it does not matter.

A process that dies is a finding by itself; so is a symbolic shape of Keras' that is not what it computes. A
library that gives a result is one only if at least two others, which share none of its code, refuse: libraries may do
more than the catalogue asks for.
"""

from collections.abc import Iterator, Mapping, Sequence

from cometfuzz.catalogue.spec import Waived, spec_of
from cometfuzz.execution.outcome import Outcome
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.crash import DEATHS, STATIC
from cometfuzz.oracles.finding import Camp, Finding, Symptom
from cometfuzz.routes.registry import base_of

REFUSING = 2
"""How many other implementations must refuse what one takes."""

SAYS_OTHERWISE = "says another shape than it computes"


def refusal(bench: Bench) -> Iterator[Finding]:
    """One finding for each library that dies or takes the call, and one for Keras' symbolic shapes."""
    outcomes = bench.trial.outcomes
    dead: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes.values():
        if (outcome.cause or outcome.status) in DEATHS:
            dead.setdefault((outcome.library, outcome.stage), []).append(outcome)
    for (library, stage), ended in dead.items():
        yield _finding(bench, "death", ended, library, stage, f"{ended[0].cause or ended[0].status} {ended[0].detail}")
    differing = [outcome for outcome in outcomes.values() if _says_otherwise(outcome)]
    if differing:
        yield _finding(bench, "refusal", differing, "keras", "build", SAYS_OTHERWISE)
    refusing = _refusing(bench)
    for library, taking in _taking(bench).items():
        if len(refusing.keys() - {library}) >= REFUSING:
            others = [outcome for name, each in refusing.items() if name != library for outcome in each]
            yield _finding(bench, "refusal", taking, library, taking[0].stage, "takes it", others)


def _says_otherwise(outcome: Outcome) -> bool:
    """Whether Keras took the call, and gave another shape than it had said."""
    return outcome.failure is not None and outcome.failure.type == STATIC


def _implementation(bench: Bench, route: str) -> str:
    """The library that computes at the end of a route: what Keras does on a backend is one implementation with it."""
    return bench.view.routes[route].stages[-1].library


def _refusing(bench: Bench) -> Mapping[str, list[Outcome]]:
    """Who refuses, by implementation. A conversion that fails says little of the library behind it, and one that is
    said to be unsupported says nothing of the call."""
    found: dict[str, list[Outcome]] = {}
    for name, outcome in bench.trial.outcomes.items():
        failure, library = outcome.failure, _implementation(bench, name)
        if outcome.status != "exception" or failure is None or _says_otherwise(outcome) or failure.disk_full:
            continue
        if (base_of(name) is None or outcome.library == library) and not failure.says_unsupported:
            found.setdefault(library, []).append(outcome)
    return found


def _taking(bench: Bench) -> Mapping[str, list[Outcome]]:
    """Who gives a result, by implementation, and does not say that it would.

    What follows from a front end that took the call is the front end's affair, and an empty result misleads nobody.
    """
    rule = spec_of(bench.graph.nodes[-1].layer).rules.get(bench.trial.case.breaks)
    waiving = rule.by if isinstance(rule, Waived) else ()
    found: dict[str, list[Outcome]] = {}
    for name, outcome in bench.completed.items():
        base, library = bench.trial.outcomes.get(base_of(name) or ""), _implementation(bench, name)
        empty = all(0 in tensor.shape for tensor in outcome.outputs)
        refused = base is None or (base.status == "exception" and not _says_otherwise(base))
        if refused and library not in waiving and not empty:
            found.setdefault(library, []).append(outcome)
    return found


def _finding(
    bench: Bench,
    symptom: Symptom,
    outcomes: Sequence[Outcome],
    library: str,
    stage: str,
    what: str,
    others: Sequence[Outcome] = (),
) -> Finding:
    first, node, rule = outcomes[0], bench.graph.nodes[-1], bench.trial.case.breaks
    seen = _told(first)
    camps = [Camp(tuple(outcome.route for outcome in outcomes), seen)]
    camps += [Camp((outcome.route,), _told(outcome)) for outcome in others]
    return Finding(
        oracle="refusal",
        symptom=symptom,
        data_kind="invalid",
        camps=tuple(camps),
        stage=stage,
        library=library,
        detail=f"the call breaks {rule!r}: expected an exception; received {seen}",
        node=node.id,
        layer=node.layer,
        failure=f"{what}: {rule}",
        evidence={
            "rule": rule,
            "status": first.cause or first.status,
            "printed": first.printed[-2000:],
            "refusing": {outcome.route: str(outcome) for outcome in others},
        },
    )


def _told(outcome: Outcome) -> str:
    """What came of the call, in a few words."""
    if outcome.failure is not None and _says_otherwise(outcome):
        return outcome.failure.message
    if outcome.status != "completed":
        return str(outcome)
    return " and ".join(f"{tensor.dtype}{list(tensor.shape)}" for tensor in outcome.outputs)
