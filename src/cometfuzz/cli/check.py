"""`cometfuzz check`: does a user's own model survive every conversion?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cometfuzz.catalogue.files import save
from cometfuzz.cli.check_onnx import CheckedFile, check_file
from cometfuzz.cli.completing import complete_routes
from cometfuzz.cli.numbers import LARGEST_SEED, at_most
from cometfuzz.cli.output import print_json
from cometfuzz.cli.progress import working
from cometfuzz.config import load as load_config
from cometfuzz.errors import CometfuzzError, unwritten
from cometfuzz.execution.configuring import configured, usable
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.supervisor import WorkerLimits
from cometfuzz.ir.case import Case
from cometfuzz.oracles.bench import Bench
from cometfuzz.oracles.checking import Answer, check_model, count, exit_code, is_large, resolution
from cometfuzz.oracles.variation import Varied, untrained, vary
from cometfuzz.reports.text import clean, plural
from cometfuzz.routes import Route
from cometfuzz.routes.onnx_given import reading
from cometfuzz.routes.registry import choose
from cometfuzz.seeds.importing import read_model
from cometfuzz.triage.advice import Advice, Adviser
from cometfuzz.triage.known import Known, gather_known

ONNX_FILE = ".onnx"
"""How the name of a file ends that readers take as it is."""

SHOWN = 3
"""How many layers a line names."""


@dataclass(frozen=True)
class _Checked:
    """All that the answer is made of."""

    varied: Varied
    fresh: bool
    answers: Sequence[Answer]
    advice: Mapping[str, Advice]

    @property
    def notes(self) -> list[str]:
        """How the numbers were chosen that the model was run on, where it is not the usual way."""
        if self.varied.gain:
            return [
                "With the weights of the file, which look untrained, the output does not depend on the input; "
                "kernels are drawn instead."
            ]
        scale = self.varied.scale
        return [f"On ordinary inputs the output does not depend on them; they are multiplied by {scale:g}."] * (
            scale != 1
        )

    @property
    def warnings(self) -> list[str]:
        """What makes the answer worth less than it seems."""
        if not self.varied.constant:
            return []
        names = ", ".join(edge.node for edge in self.varied.constant)
        tried = "other scales of the input and drawn kernels" if self.fresh else "other scales of the input"
        return [
            f"The output ({names}) does not depend on the input, not even with {tried} ({self.varied.tries} tries): "
            "that routes agree on it proves nothing."
        ]


def check(
    model: Annotated[
        Path,
        typer.Argument(metavar="MODEL", help="A model as Keras saves it, an ONNX file (.onnx), or a case (.json)."),
    ],
    routes: Annotated[
        str,
        typer.Option(
            autocompletion=complete_routes,
            help="Routes, with commas between them; by default all that speak Keras 3, or read ONNX.",
        ),
    ] = "",
    open_size: Annotated[
        int | None,
        typer.Option(min=1, help="The size of axes that the file leaves open; the batch of Keras is 1."),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, callback=at_most(LARGEST_SEED), help="What the inputs are drawn from.")
    ] = 0,
    known: Annotated[
        list[Path] | None, typer.Option(help="Known issues of your own: a TOML file, or a collection.")
    ] = None,
    keep: Annotated[Path | None, typer.Option(help="Write the case as it was run, with all its numbers.")] = None,
    config: Annotated[Path | None, typer.Option("--config", help="A TOML file; else cometfuzz.toml.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Run your own model, with its weights and drawn inputs, on all routes, and say which of them disagree.

    Small models are judged layer by layer against the reference; large ones by comparing the routes with each other.
    The exit code is 0 if all agree, 1 if a route fails or gives another answer, and 3 if a route could not be judged,
    or only one completed and nothing says whether it is right.

    An ONNX file goes to every reader as it is, on inputs drawn as it declares them; the readers are judged by each
    other and by onnx's ReferenceEvaluator.

    Example: cometfuzz check mine.keras --routes keras-tf,onnxruntime,litert
    """
    settings = load_config(config)
    if model.suffix.lower() == ONNX_FILE:
        readers = {route.name: route for route in reading(configured(settings).values())}
        usual = ",".join(name for name, route in readers.items() if route.turn)
        if keep is not None:
            raise CometfuzzError(f"--keep: expected a model that is a case; received model={str(model)!r}, a file")
        _answer_file(
            model, choose(routes or usual, readers), open_size, seed, WorkerLimits.of(settings.limits), as_json
        )
    everything, recognised = configured(settings), gather_known(known or (), settings.known)
    chosen = usable(routes or "all", everything)
    if not routes:
        chosen = [each for each in chosen if each.speaks == "keras3"]
    case = read_model(model, True, open_size, seed)
    checked = _check(case, chosen, recognised, WorkerLimits.of(settings.limits), as_json)
    if keep is not None:
        _keep(checked.varied.case, keep)
    if as_json:
        print_json({"model": str(model), **_plain(checked)})
    else:
        _print(checked)
    raise typer.Exit(exit_code(checked.answers))


def _answer_file(
    model: Path, readers: Sequence[Route], open_size: int | None, seed: int, limits: WorkerLimits, as_json: bool
) -> None:
    """The same for an ONNX file, on those who read it."""
    checked = check_file(model, readers, open_size, seed, limits, as_json)
    if as_json:
        print_json(
            {"model": str(model), **_verdicts(checked.answers, checked.advice), **checked.plain, **_said(checked)}
        )
    else:
        _print(checked)
    raise typer.Exit(exit_code(checked.answers))


def _check(case: Case, routes: Sequence[Route], known: Known, limits: WorkerLimits, quiet: bool) -> _Checked:
    doing = "starting"

    with working("checking", quiet=quiet) as tell:

        def begin(text: str) -> None:
            nonlocal doing
            doing = text
            tell(doing)

        def watch(steps: str) -> None:
            tell(f"{doing} ({steps})")

        with Executor(routes, limits=limits, pause_after=0, watch=watch) as executor:
            varied = vary(case, executor.run, routes, resolution(case.graph), begin)
            begin(f"running on {plural(len(routes), 'route')}")
            bench = Bench(executor.run(varied.case), executor.run, view=executor.view)
            begin("judging")
            answers = check_model(bench)
    adviser = Adviser(bench, known, routes, [each.route for each in answers if each.verdict == "agrees"])
    advice = {
        each.route: adviser.advise(bench.trial.outcomes[each.route], each.finding)
        for each in answers
        if each.verdict in ("disagrees", "failed")
    }
    return _Checked(varied, untrained(case), answers, advice)


def _keep(case: Case, place: Path) -> None:
    try:
        save(case, place)
    except OSError as error:
        raise unwritten(place, error) from None


def _plain(checked: _Checked) -> dict[str, Any]:
    varied = checked.varied
    return {
        **_verdicts(checked.answers, checked.advice),
        "judged_by": "routes" if is_large(varied.case.graph) else "reference",
        "inputs": {"seed": varied.case.rng_seed, "scale": varied.scale},
        "weights": {"drawn": bool(varied.gain), "gain": varied.gain or None, "look_untrained": checked.fresh},
        "tries": varied.tries,
        "varies": None if varied.constant is None else not varied.constant,
        **_said(checked),
    }


def _verdicts(answers: Sequence[Answer], advice: Mapping[str, Advice]) -> dict[str, Any]:
    counts = count(answers)
    return {
        "agrees": counts["agrees"] == len(answers),
        "counts": {verdict.replace(" ", "_"): number for verdict, number in counts.items()},
        "exit_code": exit_code(answers),
        "routes": [_plain_answer(answer, advice.get(answer.route, Advice())) for answer in answers],
    }


def _said(checked: _Checked | CheckedFile) -> dict[str, Any]:
    return {"notes": checked.notes, "warnings": checked.warnings}


def _plain_answer(answer: Answer, advice: Advice) -> dict[str, Any]:
    return {
        "name": answer.route,
        "ok": answer.verdict == "agrees",
        "verdict": answer.verdict,
        "symptom": answer.finding.symptom if answer.finding else None,
        "answer": answer.text or answer.verdict,
        "largest_difference": answer.difference,
        "known": advice.known or None,
        "link": advice.link or None,
        "places": list(advice.places),
        "actions": list(advice.actions),
    }


def _print(checked: _Checked | CheckedFile) -> None:
    table = Table("route", "answer", "largest difference", box=box.SIMPLE_HEAD, pad_edge=False)
    for answer in checked.answers:
        table.add_row(
            escape(clean(answer.route)), answer.verdict, "" if answer.difference is None else f"{answer.difference:.2g}"
        )
    console = Console(highlight=False)
    console.print(table)
    for routes, answer in _grouped(checked.answers):
        _print_group(console, routes, answer, checked.advice.get(answer.route, Advice()))
    for kind, texts in (("Note", checked.notes), ("Warning", checked.warnings)):
        for text in texts:
            console.print(f"{kind}: {clean(text)}", markup=False)
    console.print(summary(checked.answers))


def _grouped(answers: Sequence[Answer]) -> list[tuple[list[str], Answer]]:
    """Routes of which there is the same to say, with one answer that says it."""
    groups: dict[tuple[str, str], tuple[list[str], Answer]] = {}
    for answer in answers:
        if answer.text:
            groups.setdefault((answer.verdict, answer.text), ([], answer))[0].append(answer.route)
    return list(groups.values())


def _print_group(console: Console, routes: Sequence[str], answer: Answer, advice: Advice) -> None:
    console.print(f"{clean(', '.join(routes))}: {answer.verdict}. {clean(answer.text)}", markup=False)
    if answer.verdict in ("disagrees", "failed"):
        console.print(f"  known: {clean(advice.known) or 'no'}", markup=False)
    if advice.places:
        rest = f" and {len(advice.places) - SHOWN} more" if len(advice.places) > SHOWN else ""
        console.print(f"  layers: {clean(', '.join(advice.places[:SHOWN]))}{rest}", markup=False)
    for action in advice.actions:
        console.print(f"  you can: {clean(action)}", markup=False)
    console.print()


def summary(answers: Sequence[Answer]) -> str:
    """How many routes agree, disagree, failed and were not judged."""
    counts = count(answers)
    if counts["agrees"] == len(answers):
        return "All routes agree." if len(answers) > 1 else "The route agrees with the reference."
    words = {"agrees": "agree", "disagrees": "disagree"}
    parts = [f"{number} {words.get(verdict, verdict)}" for verdict, number in counts.items() if number]
    return f"Of {plural(len(answers), 'route')}: {', '.join(parts)}."
