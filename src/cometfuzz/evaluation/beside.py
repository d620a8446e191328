"""Ours beside NNSmith: ONNX files on the same readers, for the same CPU seconds.

NNSmith makes ONNX files and no graphs of layers, so it is no strategy, and is not held against layers: files, types and
pairs of ONNX operators, and findings in readers are compared. Ours are the cuts that a strategy has for converters,
NNSmith's are models of as many nodes as it is told. All steps of a route before the last one make the file, so another
writer is another list of routes.

CPU seconds: those of a warm generator, of everything that makes a file, and of all readers; not of starting them. Both
arms are judged alike: a reader that raises or dies, and one whose answer is not that of the others (rtol 1e-2, atol
1e-3, which are NNSmith's own). A finding is counted once for each signature: reader, stage and message, or reader and
the first operator after which it differs. That is less than triage does: nothing is confirmed, reduced or held against
the ledger, in either arm.
"""

import json
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from cometfuzz.catalogue.validate import assemble
from cometfuzz.config import PolicyConfig
from cometfuzz.coverage.layers import full_space
from cometfuzz.coverage.routes import RouteCoverage
from cometfuzz.errors import InvalidCampaign, InvalidRoute, WorkerFailure
from cometfuzz.evaluation.statistics import compare
from cometfuzz.evaluation.tables import Grid, machine
from cometfuzz.execution.comparing import array_of
from cometfuzz.execution.executor import Executor, Usage, expect_environments
from cometfuzz.execution.outcome import Outcome
from cometfuzz.execution.policy import assign
from cometfuzz.execution.supervisor import WorkerLimits
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Draft, Edge
from cometfuzz.oracles.finding import template
from cometfuzz.places import Place
from cometfuzz.reports.text import clean
from cometfuzz.routes import QUIET, Group, Library, Route, Stage, Step
from cometfuzz.routes.libraries import ONNX
from cometfuzz.routes.registry import ROUTES, choose
from cometfuzz.search.strategies import WINDOW, Feedback, Options, make_strategy
from cometfuzz.seeds.small import SMALL

READERS = "onnxruntime,openvino,onnx-reference"
RTOL, ATOL = 1e-2, 1e-3
MAX_BYTES = 16 * 2**20
_HERE = "cometfuzz.routes.given_files"
_FILES = Group("given files", "main", QUIET)
_GENERATE = Step(
    "nnsmith",
    Group("nnsmith", "nnsmith", QUIET),
    _HERE,
    "generate",
    (Stage("generate", Library("nnsmith", "NNSmith")),),
)
_DESCRIBE = Step("describe", _FILES, _HERE, "describe", (Stage("describe", ONNX),), {"does": "describe"})
_EXPOSE = Step("expose", _FILES, _HERE, "expose", (Stage("expose", ONNX),), {"does": "expose"})
_NAME = Step("name", _FILES, _HERE, "name", (Stage("name", ONNX),), {"does": "expose"})
FILE, NAMES = "file", "names"
OURS, THEIRS = "cometfuzz", "nnsmith"
NOT_COMPARABLE = (
    "NNSmith knows no layers: coverage of layers, and front ends and converters before the file, are ours alone and "
    "are not counted here.",
    "Signatures are not triaged, in either arm: they are no numbers of bugs. What a reader says it does not support is "
    "no bug.",
    "The paper did not run NNSmith; nobody published numbers of it on these readers.",
)


@dataclass
class Arm:
    """One generator with the routes that run what it makes, and what came of it."""

    name: str
    readers: Sequence[str]
    routes: list[Route]
    models: int = 0
    files: int = 0
    run_by_all: int = 0
    cpu_s: float = 0.0
    nodes: Counter[str] = field(default_factory=Counter)
    pairs: set[tuple[str, str]] = field(default_factory=set)
    findings: Counter[tuple[str, ...]] = field(default_factory=Counter)
    versions: dict[str, str] = field(default_factory=dict)

    def as_plain(self) -> dict[str, Any]:
        kinds = Counter(kind for kind, *_ in self.findings)
        return {
            "models": self.models,
            "files": self.files,
            "cpu_s": round(self.cpu_s, 1),
            "files_per_cpu_s": round(self.files / self.cpu_s, 3),
            "run_by_all_readers": round(self.run_by_all / max(self.files, 1), 3),
            "operators_a_file": round(self.nodes.total() / max(self.files, 1), 1),
            "operator_types": len(self.nodes),
            "operator_pairs": len(self.pairs),
            "signatures": {kind: kinds[kind] for kind in ("crash", "value", "unsupported")},
            "versions": self.versions,
            "findings": [[*signature, count] for signature, count in self.findings.most_common()],
        }


Show = Callable[[Arm], None]


def routes_of(made: Sequence[Step], readers: Sequence[Step], speaks: str) -> list[Route]:
    """The ways of one file: to each reader, to a description, and, with every value as an output, to each reader."""
    ways = {
        **{step.name: (*made, step) for step in readers},
        FILE: (*made, _DESCRIBE),
        **{_exposed(step.name): (*made, _EXPOSE, step) for step in readers},
        NAMES: (*made, _EXPOSE, _NAME),
    }
    return [Route(name, name, speaks, steps, turn="") for name, steps in ways.items()]


def _exposed(name: str) -> str:
    return f"{name} exposed"


def ours(chosen: Sequence[Route]) -> Arm:
    """The file that the chosen routes read, whoever writes it."""
    made = chosen[0].steps[:-1]
    if any(route.steps[:-1] != made for route in chosen):
        names = ", ".join(route.name for route in chosen)
        raise InvalidRoute(f"expected routes that read one file; received {names}")
    steps = [route.steps[-1] for route in chosen]
    return Arm(OURS, [step.name for step in steps], routes_of(made, steps, chosen[0].speaks))


def nnsmith(chosen: Sequence[Route], nodes: int) -> Arm:
    """The files of NNSmith on the same readers."""
    made = replace(_GENERATE, options={"does": "generate", "nodes": str(nodes)})
    steps = [
        replace(step, module=_HERE, call="run", options={**step.options, "does": "read", "module": step.module})
        for step in (route.steps[-1] for route in chosen)
    ]
    return Arm(THEIRS, [step.name for step in steps], routes_of([made], steps, "keras3"))


def our_cases(executor: Executor, readers: Sequence[str], strategy_name: str, seed: int) -> Iterator[Case]:
    """What a strategy sends to converters."""
    strategy = make_strategy(strategy_name, Options(seed, [make() for make in SMALL.values()]))
    policy = PolicyConfig(base=("keras-tf",), converters=tuple(readers), clear=tuple(readers[:1]), sampled=())
    ran = RouteCoverage({name: [full_space()] for name in readers})
    flying: deque[Case] = deque()
    index = 0
    while True:
        if len(flying) == WINDOW:
            strategy.learn(flying.popleft(), Feedback(executed=True))
        flying.append(strategy.propose())
        for part in assign(policy, executor.view, flying[-1], index, seed, ran.wanted(flying[-1], readers)):
            if not ran.coverages.keys().isdisjoint(part.routes):
                ran.learn(part.case, dict.fromkeys(part.routes, True))
                yield part.case
        index += 1


def their_cases(seed: int) -> Iterator[Case]:
    """Inputs from which NNSmith takes its seed."""
    drafts = [
        Draft("seed", "input", {"dtype": "float32", "shape": (1, 4)}, ()),
        Draft("end", "ReLU", {}, (Edge("seed"),)),
    ]
    graph = assemble(drafts, [Edge("end")])
    number = seed * 1_000_000
    while True:
        yield Case(graph, number)
        number += 1


def fill(arm: Arm, executor: Executor, cases: Iterator[Case], cpu_s: float, show: Show) -> None:
    """Run an arm until its CPU seconds are spent."""
    warm = executor.run(next(cases), [*arm.readers, FILE]).outcomes[FILE]
    if warm.status == "unavailable":
        raise WorkerFailure(f"expected {arm.name} to start; received {warm.detail}")
    executor.usage, proposing_s = Usage(), 0.0
    while arm.cpu_s < cpu_s:
        began = time.process_time()
        case = next(cases)
        proposing_s += time.process_time() - began
        trial = executor.run(case, [*arm.readers, FILE])
        arm.cpu_s = executor.usage.own_cpu_s + executor.usage.library_cpu_s + proposing_s
        spent = Usage(executor.usage.own_cpu_s, executor.usage.library_cpu_s)
        _note(arm, executor, case, trial.outcomes)  # what localising costs is not the arm's
        executor.usage = spent
        show(arm)


def _note(arm: Arm, executor: Executor, case: Case, outcomes: Any) -> None:
    arm.models += 1
    file: Outcome = outcomes[FILE]
    if file.status != "completed":
        return  # nobody has written a file, which is not the readers' fault
    arm.files += 1
    told = json.loads(file.outputs[0].data)
    arm.nodes.update(told["nodes"])
    arm.pairs.update(map(tuple, told["pairs"]))
    answers: dict[str, list[Any]] = {}
    for name in arm.readers:
        outcome: Outcome = outcomes[name]
        arm.versions.update(outcome.versions)
        if outcome.status == "completed":
            answers[name] = [array_of(tensor) for tensor in outcome.outputs]
        elif outcome.failure is not None:
            kind = "unsupported" if outcome.failure.says_unsupported else "crash"
            message = f"{outcome.failure.type}: {template(outcome.failure.message)}"
            arm.findings[kind, name, outcome.stage, message] += 1
        else:
            arm.findings["crash", name, outcome.stage, f"{outcome.status} {outcome.detail}"] += 1
    arm.run_by_all += len(answers) == len(arm.readers)
    for name in odd_ones(answers):
        arm.findings["value", name, _first_operator(arm, executor, case, name), ""] += 1


def odd_ones(answers: dict[str, list[Any]]) -> list[str]:
    """The readers whose answer is not that of most; of two that differ, both in one name."""
    alike = {name: [other for other in answers if agree(answers[name], answers[other])] for name in answers}
    if all(len(others) == len(answers) for others in alike.values()):
        return []
    most = max(len(others) for others in alike.values())
    if most < 2:
        return [" or ".join(answers)]
    return [name for name, others in alike.items() if len(others) < most]


def agree(first: Sequence[Any], second: Sequence[Any]) -> bool:
    """Whether two answers are the same but for rounding."""
    return len(first) == len(second) and all(
        a.shape == b.shape and a.dtype == b.dtype and close(a, b) for a, b in zip(first, second, strict=True)
    )


def close(a: Any, b: Any) -> bool:
    """Whether two arrays are the same but for rounding; bool and integers must be equal."""
    if a.dtype.kind in "biu":
        return bool(np.array_equal(a, b))
    return bool(np.allclose(a.astype("float64"), b.astype("float64"), rtol=RTOL, atol=ATOL, equal_nan=True))


def _first_operator(arm: Arm, executor: Executor, case: Case, name: str) -> str:
    """The operator after which a reader first differs from another, with all values as outputs."""
    others = [other for other in arm.readers if other not in name]
    pair = [name, others[0]] if name in arm.readers and others else name.split(" or ")[:2]
    outcomes = executor.run(case, [*map(_exposed, pair), NAMES]).outcomes
    if any(outcome.status != "completed" for outcome in outcomes.values()):
        return "not localised"
    makers = json.loads(outcomes[NAMES].outputs[0].data)
    seen = [[array_of(tensor) for tensor in outcomes[_exposed(each)].outputs] for each in pair]
    for maker, a, b in zip(makers, *seen, strict=False):
        if not agree([a], [b]):
            return str(maker)
    return "only without its intermediate values"


@dataclass(frozen=True)
class Setting:
    """How the two are compared: readers, what makes our cases, and how many operators NNSmith puts into a model."""

    routes: str = READERS
    strategy: str = "directed"
    nodes: int = 10
    cpu_s: float = 120.0


class Stored(msgspec.Struct, frozen=True):
    """A comparison with one seed, as its file has it."""

    setting: Setting
    seed: int
    arms: dict[str, dict[str, Any]]


def compared(setting: Setting, seed: int, out: Path, show: Show) -> Stored:
    """Both arms with one seed, or what they came to when they ran before."""
    place, name = Place(out), f"{seed}.json"
    if place.kind(name):
        stored = _stored(place, name)
        if (stored.setting, stored.seed) != (setting, seed):
            raise InvalidCampaign(f"{place.path(name)}: expected this comparison; received one of other settings")
        return stored
    chosen = choose(setting.routes, ROUTES)
    arms = [ours(chosen), nnsmith(chosen, setting.nodes)]
    expect_environments([route for arm in arms for route in arm.routes])
    for arm in arms:
        with Executor(arm.routes, limits=WorkerLimits(start_s=900.0), pause_after=0) as executor:
            theirs = arm.name == THEIRS
            cases = their_cases(seed) if theirs else our_cases(executor, arm.readers, setting.strategy, seed)
            fill(arm, executor, cases, setting.cpu_s, show)
    made = Stored(setting, seed, {arm.name: arm.as_plain() for arm in arms})
    place.write(name, msgspec.json.encode(made))
    return made


def _stored(place: Place, name: str) -> Stored:
    try:
        stored = msgspec.json.decode(place.read(name, MAX_BYTES), type=Stored)
        values(stored, "files")
    except (msgspec.DecodeError, RecursionError, LookupError, TypeError) as error:
        raise InvalidCampaign(f"{place.path(name)}: expected a comparison; received {error!r:.200}") from None
    return stored


ROWS: Mapping[str, str] = {
    "models": "models",
    "files": "files",
    "cpu_s": "CPU seconds spent",
    "files_per_cpu_s": "files for each CPU second",
    "run_by_all_readers": "share that all readers run",
    "operators_a_file": "operators in a file",
    "operator_types": "types of operators",
    "operator_pairs": "pairs of operators",
    "crash": "signatures: raised or died",
    "value": "signatures: other values",
    "unsupported": "signatures: said to be unsupported",
}


def values(stored: Stored, row: str) -> dict[str, float]:
    """What a row has for each arm."""
    return {
        arm: float(found["signatures"][row] if row in found["signatures"] else found[row])
        for arm, found in stored.arms.items()
    }


def comparison_grid(every: Sequence[Stored]) -> Grid:
    """Medians over the seeds, with the test between the two arms."""
    cells = []
    for row, label in ROWS.items():
        found = [values(stored, row) for stored in every]
        mine, theirs = ([each[arm] for each in found] for arm in (OURS, THEIRS))
        each = compare(mine, {THEIRS: theirs})[THEIRS]
        p = "" if each.p is None else f"{each.p:.4f}{'*' * each.is_significant}"
        cells.append([label, f"{each.ours:g}", f"{each.theirs:g}", f"{len(mine)}, {len(theirs)}", f"{each.a12:.2f}", p])
    return ["median", OURS, THEIRS, "n", "A12", "p"], cells


def finding_grid(every: Sequence[Stored]) -> Grid:
    """Every signature, and in how many runs of each arm it was."""
    seen: dict[tuple[str, ...], Counter[str]] = {}
    for stored in every:
        for arm, found in stored.arms.items():
            for *signature, _ in found["findings"]:
                seen.setdefault(tuple(map(clean, signature)), Counter())[arm] += 1
    rows = [
        [kind, " ".join(filter(None, rest)), *(str(runs[arm]) for arm in (OURS, THEIRS))]
        for (kind, *rest), runs in sorted(seen.items())
    ]
    return ["kind", "signature", f"runs of {OURS}", f"runs of {THEIRS}"], rows


def as_plain(every: Sequence[Stored], command: str) -> dict[str, Any]:
    """The form of `--json`."""
    grid = comparison_grid(every)
    return {
        "experiment": "nnsmith",
        "command": command,
        "machine": machine(),
        "tables": {"comparison": [grid[0], *grid[1]]},
        "runs": [msgspec.to_builtins(stored) for stored in every],
        "not_comparable": list(NOT_COMPARABLE),
    }
