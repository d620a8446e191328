"""The numbers that the docs quote: JSON records that commands wrote, and docs/measurements.md, made from them.

    .venv/bin/python experiments/measurements.py measure [NAME ...]     what costs little, or those that are named
    .venv/bin/python experiments/measurements.py render                 page and README from the records

A record says what was measured, when, by which command, on which machine and with which versions. Its `text` has its
numbers by their names, so that each stands in one place. One that is `dear` is measured anew only if it is named. A
record without a measurement here was `taken over`: from the README of its date, or from what was published. Both
commands write docs/measurements.md, and the numbers that README.md quotes, as the records have them.
"""

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

import cometfuzz
from cometfuzz.execution.environments import find
from cometfuzz.ledger.cpu import this_cpu
from cometfuzz.triage.collection import Collection

ROOT = Path(__file__).parents[1]
FOLDER, PAGE, README = ROOT / "docs" / "measurements", ROOT / "docs" / "measurements.md", ROOT / "README.md"
THREE = "keras-tf,keras-torch,keras-jax"
SEEDS = range(1, 6)
CRITERIA = ("inputs", "parameters", "sequences")
MARK = re.compile(r"(\d[\d,.]*\d|\d)%?<!-- ([\w-]+)\.(\w+) -->")
"""How a page quotes a number: 180<!-- bugs.counted -->."""

Numbers = dict[str, int | float]


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A measurement: `taken_over` says where its numbers come from if no command of ours has written them."""

    what: str
    text: str
    command: str
    date: str
    machine: str = ""
    versions: dict[str, str] = {}
    numbers: Numbers = {}
    taken_over: str = ""

    @property
    def said(self) -> str:
        """The text with its numbers."""
        return self.text.format(**self.numbers)


@dataclass(frozen=True)
class Measurement:
    """How a record is made: `ask` gives its numbers and does what `command` says."""

    what: str
    text: str
    command: str
    ask: Callable[[], Numbers]
    dear: bool = False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    measuring = commands.add_parser("measure")
    measuring.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MEASUREMENTS))
    commands.add_parser("render")
    arguments = parser.parse_args()
    if arguments.command == "measure":
        unknown = [name for name in arguments.names if name not in MEASUREMENTS]
        if unknown:
            parser.error(f"expected names out of {', '.join(MEASUREMENTS)}; received {unknown[0]}")
        for name in arguments.names or [name for name, each in MEASUREMENTS.items() if not each.dear]:
            print(f"{name}: {measure(name).said}", flush=True)
    records = read()
    PAGE.write_text(page(records), encoding="utf-8")
    README.write_text(requoted(README.read_text(encoding="utf-8"), records), encoding="utf-8")


def measure(name: str) -> Record:
    """Measure once and write the record."""
    measurement, load = MEASUREMENTS[name], os.getloadavg()[0]
    numbers = measurement.ask()
    record = Record(
        what=measurement.what,
        text=measurement.text,
        command=measurement.command,
        date=time.strftime("%Y-%m-%d", time.gmtime()),
        machine=f"{os.cpu_count()} cores, {this_cpu()}, load {load:.1f} before",
        versions=versions(),
        numbers=numbers,
    )
    FOLDER.mkdir(exist_ok=True)
    encoded = msgspec.json.format(msgspec.json.encode(record), indent=2)
    (FOLDER / f"{name}.json").write_bytes(encoded + b"\n")
    return record


def versions() -> dict[str, str]:
    """What the numbers depend on: ourselves, Python, and what we compute with."""
    git = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    packages = find("tool").packages
    own = f"{cometfuzz.__version__} ({git.stdout.strip() or 'no checkout'})"
    return {"cometfuzz": own, "python": sys.version.split()[0], "numpy": packages.get("numpy", "?")}


def read() -> dict[str, Record]:
    """All records by name."""
    return {path.stem: msgspec.json.decode(path.read_bytes(), type=Record) for path in sorted(FOLDER.glob("*.json"))}


def page(records: dict[str, Record]) -> str:
    """docs/measurements.md."""
    fresh = {name: record for name, record in records.items() if not record.taken_over}
    old = {name: record for name, record in records.items() if record.taken_over}
    lines = [
        "# Measurements",
        "",
        "Every number by the command that gave it, with the day and the machine. The records are the files of"
        " [docs/measurements/](measurements/); this page is made from them by `make measurements`, which first measures"
        " anew what costs little (`make measurements names=make-test` what is named). Machines have no GPU.",
        "",
        "## Measured by `make measurements`",
        "",
        *_list(fresh),
        "",
        "## Taken over",
        "",
        "What takes too long to be measured with every change, or needs another machine, and what others published.",
        "",
        *_list(old),
    ]
    return "\n".join(lines) + "\n"


def _list(records: dict[str, Record]) -> Iterator[str]:
    for name, record in records.items():
        with_ = ", ".join(f"{package} {version}" for package, version in record.versions.items())
        where = "; ".join(filter(None, (record.date, record.machine, with_, record.taken_over)))
        command = f"`{record.command}`; " if record.command else ""
        yield f"- **{record.what}**: {record.said}  "
        yield f"  {command}{where} ([{name}](measurements/{name}.json))"


def quotes(text: str) -> Iterator[tuple[str, str, str]]:
    """The numbers that a page quotes: as they stand there, and record and name that they claim to come from."""
    for found in MARK.finditer(text):
        yield found[1].replace(",", ""), found[2], found[3]


def wrong_quotes(text: str, records: dict[str, Record]) -> list[str]:
    """A line for each quoted number that is not the record's."""
    wrong = []
    for number, name, key in quotes(text):
        measured = records[name].numbers.get(key) if name in records else None
        if measured is None or str(measured) != number:
            wrong.append(f"expected {measured} of {name}.{key}; received {number}")
    return wrong


def requoted(text: str, records: dict[str, Record]) -> str:
    """A page with every number that it quotes as it is in its record."""

    def current(found: re.Match[str]) -> str:
        numbers = records[found[2]].numbers if found[2] in records else {}
        return found[0].replace(found[1], str(numbers.get(found[3], found[1])), 1)

    return MARK.sub(current, text)


def unquoted(text: str) -> list[str]:
    """Numbers of a page's prose and tables that claim no record: neither code, addresses, nor parts of names."""
    text = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)|<img[^>]*>", " ", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", " ", MARK.sub(" ", text), flags=re.DOTALL)
    return re.findall(r"(?<![\w.])\d[\d,.]*\d%?|(?<![\w.])\d%?", re.sub(NAMES, " ", text))


NAMES = r"Keras (?:3\.\d+\.\d+|[23])|Python 3\.\d+(?: to 3\.\d+)?|TOSEM 2023|Apache-2\.0|exit code \d"
"""Numbers that are parts of names."""


def asked(*arguments: str) -> Any:
    """What a command of ours prints as JSON."""
    command = [sys.executable, "-m", "cometfuzz", *arguments, "--json"]
    ran = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    return json.loads(ran.stdout)


def timed(command: Sequence[str]) -> Numbers:
    """How long a command takes; it must succeed."""
    before, began = os.times(), time.monotonic()
    subprocess.run(command, cwd=ROOT, check=True, stdout=sys.stderr)
    took, after = time.monotonic() - began, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return {"seconds": round(took), "cpu_seconds": round(cpu)}


def catalogue() -> Numbers:
    found = asked("layers")
    layers, operators = found["layers"], found["operators"]
    handing_on = sum(layer["identity"] for layer in layers)
    return {"layers": len(layers), "identity": handing_on, "operators": len(operators)}


def routes() -> Numbers:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {"routes": len(project["entry-points"]["cometfuzz.routes"])}


def spaces() -> Numbers:
    found = asked("space")
    counts = {
        f"{space}_{criterion}{'_reachable' if kind == 'reachable' else ''}": found[space][criterion][kind]
        for space in ("paper", "full", "ops")
        for criterion in CRITERIA
        for kind in ("total", "reachable")
    }
    others = {"pairs": "pairs", "triples": "triples", "chains": "sequences of three"}
    return {**counts, **{name: found[space]["total"] for name, space in others.items()}}


def ledger() -> Numbers:
    found = asked("ledger")["defects"]
    return {"entries": len(found), "bugs": sum(entry["kind"] == "bug" for entry in found)}


def bugs() -> Numbers:
    entries = Collection.read(ROOT / "bugs").entries
    counted = [entry for entry in entries if entry.defect.counted]
    clear = sum(entry.defect.standing == "counted" for entry in counted)
    return {
        "counted": len(counted),
        "clear": clear,
        "corner": len(counted) - clear,
        "not_counted": len(entries) - len(counted),
        "libraries": len({entry.library for entry in counted}),
    }


def direct() -> Numbers:
    measured = asked("bench", "direct")
    return {
        "writer_checker_reader": round(measured["models_per_cpu_s"]),
        "end_to_end": round(measured["models_per_cpu_s_end_to_end"]),
    }


def generated(strategy: str) -> Numbers:
    """The least and the most of the paper's space that models cover, over seeds; by direct edges too."""
    shares: dict[str, list[float]] = {name: [] for name in (*CRITERIA, "direct")}
    for seed in SEEDS:
        covered = asked("generate", "--strategy", strategy, "--cases", "888", "--seed", str(seed))["coverage"]["paper"]
        for name in CRITERIA:
            shares[name].append(100 * covered[name]["covered"] / covered[name]["total"])
        shares["direct"].append(100 * covered["sequences"]["direct"] / covered["sequences"]["total"])
    return {f"{name}_{end.__name__}": round(end(each), 1) for name, each in shares.items() for end in (min, max)}


def directed() -> Numbers:
    """How much of what can be reached our own strategy reaches."""
    made = asked("generate", "--strategy", "directed", "--cases", "20000", "--seed", "11")
    coverage = made["coverage"]
    least = min(each["covered"] / each["reachable"] for space in coverage.values() for each in space.values())
    shares = {name: round(100 * each["covered"] / each["total"], 1) for name, each in coverage["paper"].items()}
    return {"least": round(100 * least, 2), **shares, "cpu_s": round(made["cpu_s"])}


def three_backends() -> Numbers:
    """Shares of draws that meet what is known, by route."""
    found = asked("conformance", "--draws", "30", "--routes", THREE)
    shares = {name: (each["refused"] + each["bugs"]) / each["draws"] for name, each in found["routes"].items()}
    known = {name.replace("-", "_"): round(100 * share, 1) for name, share in shares.items()}
    return {"draws": found["routes"]["keras-tf"]["draws"], "undeclared": len(found["undeclared"]), **known}


def synthesis() -> Numbers:
    total = asked("synthesise", "--runs", "20")["total"]
    return {
        "layers_before": total["original"]["layers"],
        "weights_before": total["original"]["weights"],
        "layers": total["layers"],
        "weights": round(total["weights"]),
        "cpu_s": total["cpu_s_max"],
        "memory_mb": total["memory_mb"],
    }


PERCENT = "{inputs_min} to {inputs_max}%, {parameters_min} to {parameters_max}%, {sequences_min} to {sequences_max}%"
MEASUREMENTS = {
    "catalogue": Measurement(
        "layers in the catalogue",
        "{layers} layers, of which {identity} hand their input on in inference; {operators} operators",
        "cometfuzz layers --json",
        catalogue,
    ),
    "routes": Measurement("routes", "{routes}", "cometfuzz doctor --routes all", routes),
    "spaces": Measurement(
        "what can be covered: inputs / parameter values / sequences",
        "the paper's space {paper_inputs} / {paper_parameters} / {paper_sequences}, reachable {paper_inputs_reachable}"
        " / {paper_parameters_reachable} / {paper_sequences_reachable}; the full one {full_inputs} / {full_parameters}"
        " / {full_sequences}, reachable {full_inputs_reachable} / {full_parameters_reachable} /"
        " {full_sequences_reachable}; that of operators {ops_inputs} / {ops_parameters} / {ops_sequences}, reachable"
        " {ops_inputs_reachable} / {ops_parameters_reachable} / {ops_sequences_reachable}; pairs {pairs}, triples"
        " {triples}, sequences of three"
        " families {chains}",
        "cometfuzz space --json",
        spaces,
    ),
    "ledger": Measurement(
        "what is known of the libraries",
        "{entries} entries: bugs ({bugs}), limits and choices",
        "cometfuzz ledger --json",
        ledger,
    ),
    "bugs": Measurement(
        "bugs in today's libraries, each with a script; one fix counts once",
        "{counted} in {libraries} libraries: {clear} clear ones and {corner} corner cases (float64, empty axes, NaN,"
        " Inf); {not_counted} more are not counted (the same fix, limits, utility nodes, libraries that nobody"
        " maintains)",
        "cometfuzz bugs bugs",
        bugs,
    ),
    "bench-graph": Measurement(
        "graphs of 40 nodes decoded, typed and validated",
        "{graphs_per_cpu_s} per CPU second",
        "cometfuzz bench graph --json",
        lambda: {"graphs_per_cpu_s": round(asked("bench", "graph")["graphs_per_cpu_s"])},
    ),
    "bench-mutate": Measurement(
        "mutants of 32 nodes, search and coverage included",
        "{mutants_per_cpu_s} per CPU second",
        "cometfuzz bench mutate --json",
        lambda: {"mutants_per_cpu_s": round(asked("bench", "mutate")["mutants_per_cpu_s"])},
    ),
    "bench-direct": Measurement(
        "models of 12 nodes as ONNX files of our own, on ONNX Runtime",
        "{writer_checker_reader} per CPU second by writer, checker and reader alone, {end_to_end} with drawing and"
        " judging",
        "cometfuzz bench direct --json",
        direct,
    ),
    "generate-comet": Measurement(
        "888 generated models, what they cover of the paper's space, seeds 1 to 5; nothing is executed",
        f"inputs / parameters / sequences {PERCENT} of all items; sequences by direct edges only, as the authors count,"
        " {direct_min} to {direct_max}%",
        "cometfuzz generate --cases 888 --seed 1 --json",
        lambda: generated("comet"),
    ),
    "generate-comet-r": Measurement(
        "888 generated models with operators chosen at random, what they cover of the paper's space, seeds 1 to 5",
        f"{PERCENT}; by direct edges {{direct_min}} to {{direct_max}}%",
        "cometfuzz generate --strategy comet-r --cases 888 --seed 1 --json",
        lambda: generated("comet-r"),
    ),
    "directed": Measurement(
        "20,000 models of our own strategy; nothing is executed",
        "of all reachable items of the paper's, the full and the operators' space at least {least}% by each criterion"
        " (of all of the paper's: {inputs} / {parameters} / {sequences}%); {cpu_s} CPU s",
        "cometfuzz generate --strategy directed --cases 20000 --seed 11 --json",
        directed,
        dear=True,
    ),
    "conformance-three": Measurement(
        "Keras on TensorFlow, PyTorch and JAX: 30 draws of each layer and operator",
        "{draws:,} draws on each; undeclared {undeclared}; known limits and bugs met by {keras_tf}, {keras_torch} and"
        " {keras_jax}% of them",
        f"cometfuzz conformance --draws 30 --routes {THREE} --json",
        three_backends,
        dear=True,
    ),
    "synthesise": Measurement(
        "ten published models, synthesised, 20 runs",
        "{layers_before} layers and {weights_before:,} weights -> {layers} layers, {weights:,} weights; at most {cpu_s}"
        " CPU seconds a model, {memory_mb} MB",
        "cometfuzz synthesise --runs 20 --json",
        synthesis,
    ),
    "unit-tests": Measurement(
        "the unit tests, on as many cores as there are",
        "{seconds} s, {cpu_seconds} CPU seconds",
        "pytest -q -n auto --dist worksteal tests/unit",
        lambda: timed([sys.executable, "-m", *shlex.split("pytest -q -n auto --dist worksteal tests/unit")]),
    ),
    "make-test": Measurement(
        "all tests, environments built before",
        "{seconds} s, {cpu_seconds} CPU seconds",
        "make test",
        lambda: timed(["make", "test"]),
        dear=True,
    ),
}


if __name__ == "__main__":
    main()
