"""Ours beside NNSmith: ONNX files on the same readers, for the same CPU seconds.

    .venv/bin/cometfuzz env create nnsmith
    .venv/bin/python experiments/beside_nnsmith.py [--cpu-seconds 120] [--routes onnxruntime,openvino,onnx-reference]

--routes: routes that read one ONNX file; all steps before the last one make it, so `direct-onnxruntime,...` is another
writer. Ours are the cuts that `directed` has for converters, NNSmith's are models of as many nodes as it is told.

CPU seconds: those of a warm generator, of everything that makes a file, and of all readers; not of starting them. Both
arms are judged alike: a reader that raises or dies, and one whose answer is not that of the others (rtol 1e-2, atol
1e-3, which are NNSmith's own). A finding is counted once for each signature: reader, stage and message, or reader and
the first operator after which it differs. That is less than triage does: nothing is confirmed, reduced or held against
the ledger.
"""

import argparse
import json
import time
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from cometfuzz.catalogue.validate import assemble
from cometfuzz.config import PolicyConfig
from cometfuzz.coverage.layers import full_space
from cometfuzz.coverage.routes import RouteCoverage
from cometfuzz.execution.comparing import array_of
from cometfuzz.execution.executor import Executor, Usage, expect_environments
from cometfuzz.execution.outcome import Outcome
from cometfuzz.execution.policy import assign
from cometfuzz.execution.supervisor import WorkerLimits
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import Draft, Edge
from cometfuzz.oracles.crash import says_unsupported
from cometfuzz.oracles.finding import template
from cometfuzz.routes import QUIET, Group, Library, Route, Stage, Step
from cometfuzz.routes.libraries import ONNX
from cometfuzz.routes.registry import ROUTES, choose
from cometfuzz.search.strategies import WINDOW, Feedback, Options, make_strategy
from cometfuzz.seeds.small import SMALL

RTOL, ATOL = 1e-2, 1e-3
_HERE = "given_files"
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
        raise SystemExit(f"expected routes that read one file; received {', '.join(route.name for route in chosen)}")
    steps = [route.steps[-1] for route in chosen]
    return Arm("cometfuzz", [step.name for step in steps], routes_of(made, steps, chosen[0].speaks))


def nnsmith(chosen: Sequence[Route], nodes: int) -> Arm:
    """The files of NNSmith on the same readers."""
    made = replace(_GENERATE, options={"does": "generate", "nodes": str(nodes)})
    steps = [
        replace(step, module=_HERE, call="run", options={**step.options, "does": "read", "module": step.module})
        for step in (route.steps[-1] for route in chosen)
    ]
    return Arm("nnsmith", [step.name for step in steps], routes_of([made], steps, "keras3"))


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


def fill(arm: Arm, executor: Executor, cases: Iterator[Case], cpu_s: float, progress: Progress) -> None:
    """Run an arm until its CPU seconds are spent."""
    bar = progress.add_task(arm.name, total=cpu_s)
    warm = executor.run(next(cases), [*arm.readers, FILE]).outcomes[FILE]
    if warm.status == "unavailable":
        raise SystemExit(f"expected {arm.name} to start; received {warm.detail}")
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
        progress.update(bar, completed=min(arm.cpu_s, cpu_s))


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
            kind = "unsupported" if says_unsupported(outcome.failure) else "crash"
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cpu-seconds", type=float, default=120.0, help="for each arm")
    parser.add_argument("--routes", default="onnxruntime,openvino,onnx-reference")
    parser.add_argument("--strategy", default="directed")
    parser.add_argument("--nodes", type=int, default=10, help="how many operators NNSmith puts into a model")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    chosen = choose(arguments.routes, ROUTES)
    arms = [ours(chosen), nnsmith(chosen, arguments.nodes)]
    expect_environments([route for arm in arms for route in arm.routes])
    with Progress(console=Console(stderr=True), transient=True) as progress:
        for arm in arms:
            with Executor(arm.routes, limits=WorkerLimits(start_s=900.0), pause_after=0) as executor:
                if arm.name == "nnsmith":
                    cases = their_cases(arguments.seed)
                else:
                    cases = our_cases(executor, arm.readers, arguments.strategy, arguments.seed)
                fill(arm, executor, cases, arguments.cpu_seconds, progress)
    result = {arm.name: arm.as_plain() for arm in arms}
    if arguments.json:
        print(json.dumps({"routes": arguments.routes, "seed": arguments.seed, "arms": result}, indent=2))
        return
    table = Table("", *result)
    for row in ("models", "files", "cpu_s", "files_per_cpu_s", "run_by_all_readers", "operators_a_file"):
        table.add_row(row, *(str(found[row]) for found in result.values()))
    for row in ("operator_types", "operator_pairs", "signatures"):
        table.add_row(row, *(str(found[row]) for found in result.values()))
    Console().print(table)
    for name, found in result.items():
        for kind, *where, count in found["findings"]:
            print(name, kind, *where, count)


if __name__ == "__main__":
    main()
