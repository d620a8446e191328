"""Which branches of the listed modules no model reached, and why: what the paper looks at by hand, for all of them.

Read from the sources; nothing is imported. A branch is a test and what it decides, in a function. It is classed by the
first of these that holds:

training or saving: the function, one around it or the test is about that, by name;
other device or backend: likewise, or about another mode of execution (sparse, distributed, graphs of TensorFlow 1);
not reachable from a layer: no call leads to the function from what ran or from a layer or operator of the catalogue.
Calls are followed by name alone, so that more counts as reachable than is;
error path: it leads to an exception or a warning;
reachable and missed: the rest.
"""

import ast
import json
import re
import subprocess
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

import cometfuzz
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.coverage.branches import MODULES, Branch, Branches
from cometfuzz.errors import CometfuzzError, InvalidCampaign, InvalidCoverage
from cometfuzz.evaluation.tables import Grid, machine
from cometfuzz.execution.executor import python_of
from cometfuzz.execution.observation import default_cache
from cometfuzz.places import Place
from cometfuzz.routes.keras import KERAS_TF

FILE = "branches.json"
MAX_BYTES = 64 * 2**20
_LIMIT_S = 600.0

NOT_COMPARABLE = (
    "The paper looked at two modules by hand, on Keras 2.8: 173 of 356 branches of keras/layers/convolutional.py and "
    "133 of 462 of ops/array_ops.py of TensorFlow were covered. Today's modules are others.",
    "Classes are told from the source by rules, not by hand: names decide what is about training or another backend, "
    "and calls are followed by name alone, so that what is called reachable has more in it than a model can reach.",
)

TRAINING, ELSEWHERE, UNREACHABLE, ERROR, MISSED = CLASSES = (
    "training or saving",
    "other device or backend",
    "not reachable from a layer",
    "error path",
    "reachable and missed",
)

_TRAINING = re.compile(
    r"get_config|from_config|_config\b|serializ|save|load_|export|_loss|\bloss|grad(?!ual)|regulariz|constraint|optimi[sz]er"
    r"|metric|\bfit\b|train|lora|checkpoint|stateless_call|compile|summary|pickle|copy__|__reduce|add_weight_in|freeze",
    re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"torch|\bjax\b|\"numpy\"|'numpy'|openvino|mlx|\btpu|gpu|cudnn|\bxla|jit_compile|sparse|ragged|distribut|mesh|layout_map"
    r"|device|executing_eagerly|eager|_v1\b|v1_|control_flow|composite|while_v2|placeholder|dtensor|quantized_dtype",
    re.IGNORECASE,
)
_SAYING = ("warn", "warning", "error", "print_msg")

PROTOCOL = frozenset(
    ("__init__", "__call__", "call", "build", "compute_output_shape", "compute_output_spec", "compute_mask")
)
"""The methods of a layer that building and running a model calls."""


@dataclass(frozen=True)
class Function:
    """A function of a module: where it is, which class has it, and all names that its body has."""

    module: str
    name: str
    owner: str
    lines: range
    names: frozenset[str]
    inside: str = ""
    """The functions around it, with dots between them."""
    body: int = 0
    """The first line behind its signature."""

    @property
    def path(self) -> str:
        return ".".join(filter(None, (self.inside, self.owner, self.name)))


@dataclass(frozen=True)
class Missed:
    """A branch that no model reached. test: what decides, as the source has it; needs: what it would have to be."""

    module: str
    function: str
    line: int
    to: int
    test: str
    needs: str
    kind: str
    entered: bool
    """Whether the function ran at all."""

    @property
    def remedy(self) -> str:
        """What would reach it."""
        return f"{self.test} {self.needs}" if self.entered else f"a call of {self.function}"


@dataclass
class Source:
    """A module: its functions and classes, and what is to be reached in it."""

    name: str
    tree: ast.Module
    branches: Sequence[Branch]
    functions: list[Function] = field(default_factory=list)
    bases: dict[str, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._look(self.tree, "", "")

    def _look(self, node: ast.AST, owner: str, inside: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                self.bases[child.name] = frozenset(name for base in child.bases for name in _names(base))
                self._look(child, child.name, inside)
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                first = min([child.lineno, *(each.lineno for each in child.decorator_list)])
                lines = range(first, (child.end_lineno or first) + 1)
                found = Function(
                    self.name, child.name, owner, lines, frozenset(_names(child)), inside, child.body[0].lineno
                )
                self.functions.append(found)
                self._look(child, "", found.path)
            else:
                self._look(child, owner, inside)

    @cached_property
    def at(self) -> Mapping[int, Function]:
        """The innermost function around each line."""
        found: dict[int, Function] = {}
        for each in sorted(self.functions, key=lambda each: -len(each.lines)):
            found.update(dict.fromkeys(each.lines, each))
        return found


def _names(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            yield each.id
        elif isinstance(each, ast.Attribute):
            yield each.attr


def gathered(folder: Path) -> tuple[Branches, list[Path]]:
    """What the campaigns and runs in a folder have reached together, and where that was written."""
    files = sorted(path for path in folder.rglob(FILE) if path.is_file() and not path.is_symlink())
    if not files:
        raise InvalidCampaign(f"{folder}: expected runs with branches ({FILE}); received none")
    together = Branches()
    for path in files:
        try:
            plain = json.loads(Place(path.parent).read(FILE, MAX_BYTES))
            together.merge(Branches.from_plain(plain).to_plain())
        except (ValueError, RecursionError, InvalidCoverage) as error:
            raise InvalidCampaign(f"{path}: expected branches; received {error}") from None
    return together, files


class _Told(msgspec.Struct, frozen=True):
    path: str
    digest: str
    branches: list[Branch]


def sources(reached: Branches) -> list[Source]:
    """The listed modules as they are installed; CometfuzzError if what was reached is of other sources."""
    package = str(Path(cometfuzz.__file__).parents[1])
    python = python_of(KERAS_TF.steps[0].group)
    command = [str(python), "-m", "cometfuzz.execution.labels", str(default_cache()), *MODULES]
    try:
        ran = subprocess.run(
            command,
            env={"PYTHONPATH": package},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_LIMIT_S,
            check=False,
        )
        told = msgspec.json.decode(ran.stdout, type=dict[str, _Told])
    except (OSError, subprocess.TimeoutExpired, msgspec.DecodeError) as error:
        raise CometfuzzError(f"{python}: expected what there is to reach; received {error}") from None
    found = []
    for name, each in told.items():
        known = reached.modules.get(name)
        if known is not None and known.digest != each.digest:
            raise CometfuzzError(f"{name}: expected branches of the source that is installed; received another one's")
        text = Path(each.path).read_text(encoding="utf-8")
        found.append(Source(name, ast.parse(text), each.branches))
    return found


def missed(every: Sequence[Source], reached: Branches) -> list[Missed]:
    """All branches that were not reached, classed."""
    ran = {key for source in every for key in _ran(source, reached)}
    callable_ = reachable(every, ran)
    found = []
    for source in every:
        covered = reached.modules[source.name].branches if source.name in reached.modules else frozenset()
        deciding = _deciding(source.tree)
        for branch in source.branches:
            if branch not in covered:
                found.append(_classed(source, branch, deciding.get(branch[0]), ran, callable_))
    return found


def _ran(source: Source, reached: Branches) -> set[tuple[str, str]]:
    """The functions of a module of whose bodies a line ran; heads run when the module is imported."""
    module = reached.modules.get(source.name)
    found = [source.at.get(line) for line in (module.lines if module is not None else ())]
    lines = zip(module.lines if module is not None else (), found, strict=True)
    return {(source.name, each.path) for line, each in lines if each is not None and line >= each.body}


def reachable(every: Sequence[Source], ran: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """The functions to which calls lead, by name, from what ran and from the layers and operators of the catalogue.

    A method counts only if its class is one of theirs, a base of one, or named where calls lead.
    """
    functions = [each for source in every for each in source.functions if not _TRAINING.search(each.path)]
    bases: dict[str, frozenset[str]] = {}
    for source in every:
        for name, found in source.bases.items():
            bases[name] = bases.get(name, frozenset()) | found
    layers = {name for name, spec in CATALOGUE.items() if spec.counted}
    classes: set[str] = set()
    _take(classes, layers, bases)
    names = {
        *PROTOCOL,
        *(name.removeprefix("ops.").rpartition(".")[2] for name in CATALOGUE if name.startswith("ops.")),
    }
    done: set[tuple[str, str]] = set()
    grown = True
    while grown:
        grown = False
        for each in functions:
            key = each.module, each.path
            if key in done:
                continue
            if key in ran or (each.name in names and (not each.owner or each.owner in classes)):
                done.add(key)
                names |= each.names
                _take(classes, {*each.names, each.owner}, bases)
                grown = True
    return done


def _take(classes: set[str], names: Collection[str], bases: Mapping[str, frozenset[str]]) -> None:
    """Add those of some names that are classes, with the classes that they are made of."""
    fresh = {name for name in names if name in bases and name not in classes}
    while fresh:
        classes |= fresh
        fresh = {base for name in fresh for base in bases[name] if base in bases and base not in classes}


Deciding = ast.If | ast.While | ast.For | ast.AsyncFor | ast.Match


def _deciding(tree: ast.AST) -> dict[int, tuple[Deciding, bool]]:
    """What decides at each line, and whether that stands in a handler or a block that ends in an exception."""
    found: dict[int, tuple[Deciding, bool]] = {}

    def look(node: ast.AST, failing: bool) -> None:
        if isinstance(node, Deciding):
            found.setdefault(node.lineno, (node, failing))
        for name, value in ast.iter_fields(node):
            block = value if isinstance(value, list) else [value]
            nested = [each for each in block if isinstance(each, ast.AST)]
            ends = (
                name in ("body", "orelse") and not isinstance(node, ast.FunctionDef | ast.ClassDef) and _fails(nested)
            )
            for each in nested:
                look(each, failing or ends or isinstance(each, ast.ExceptHandler))

    look(tree, False)
    return found


def _fails(block: Sequence[ast.AST]) -> bool:
    """Whether a block ends in an exception, or begins with a warning."""
    if not block:
        return False
    first = block[0].value if isinstance(block[0], ast.Expr) else None
    said = isinstance(first, ast.Call) and any(name in _SAYING for name in _names(first.func))
    return isinstance(block[-1], ast.Raise | ast.Assert) or said


def _classed(
    source: Source,
    branch: Branch,
    deciding: tuple[Deciding, bool] | None,
    ran: set[tuple[str, str]],
    callable_: set[tuple[str, str]],
) -> Missed:
    line, to = branch
    function = source.at.get(line)
    key = (source.name, function.path) if function is not None else (source.name, "")
    test, needs, fails = _said(to, deciding)
    where = key[1] or "the module itself"
    entered = key in ran or not key[1]
    about = f"{source.name}.{where} {test}"
    if _TRAINING.search(about):
        kind = TRAINING
    elif _ELSEWHERE.search(about):
        kind = ELSEWHERE
    elif not entered and key not in callable_:
        kind = UNREACHABLE
    elif fails:
        kind = ERROR
    else:
        kind = MISSED
    return Missed(source.name, where, line, to, test, needs, kind, entered)


def _said(to: int, deciding: tuple[Deciding, bool] | None) -> tuple[str, str, bool]:
    """What decides, what it needs to be, and whether that leads to an exception."""
    if deciding is None:
        return "", "", False
    node, failing = deciding
    within = any(each.lineno <= to <= (each.end_lineno or each.lineno) for each in node_body(node))
    if isinstance(node, ast.Match):
        return f"match {_text(node.subject)}", f"goes to line {to}", failing
    block = node_body(node) if within else node.orelse
    fails = failing or _fails(block)
    if isinstance(node, ast.For | ast.AsyncFor):
        said = "has an element" if within else "has come to its end, or has none"
        return f"{_text(node.target)} in {_text(node.iter)}", said, fails
    return _text(node.test), "is true" if within else "is false", fails


def node_body(node: Deciding) -> Sequence[ast.stmt]:
    """What runs if the test holds; of a match, all cases."""
    return [each for case in node.cases for each in case.body] if isinstance(node, ast.Match) else node.body


def _text(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())[:120]


def area_of(module: str) -> str:
    """A part of the libraries, as tables have it."""
    parts = module.removeprefix("keras.src.").removeprefix("tensorflow.python.").split(".")
    library = "TensorFlow" if module.startswith("tensorflow") else "Keras"
    deep = parts[:2] if parts[0] in ("backend", "layers") else parts[:1]
    return f"{library} {'.'.join(deep)}"


def class_grid(found: Sequence[Missed], reached: Branches) -> Grid:
    """How many of each class, and how large that is of all branches."""
    counts, share = Counter(each.kind for each in found), reached.branch_share
    total = share.covered + len(found)
    rows = [["reached", str(share.covered), f"{100 * share.covered / max(1, total):.1f}%"]]
    rows += [[kind, str(counts[kind]), f"{100 * counts[kind] / max(1, total):.1f}%"] for kind in CLASSES]
    return ["branches", "number", "of all"], [*rows, ["all", str(total), ""]]


def area_grid(found: Sequence[Missed], reached: Branches) -> Grid:
    """The same by parts of the libraries, those with most that could be reached first."""
    counts: dict[str, Counter[str]] = {}
    for each in found:
        counts.setdefault(area_of(each.module), Counter())[each.kind] += 1
    done = Counter[str]()
    for name, module in reached.modules.items():
        done[area_of(name)] += module.branch_share.covered
    areas = sorted({*counts, *done}, key=lambda area: -counts.get(area, Counter())[MISSED])
    rows = [[area, str(done[area]), *(str(counts.get(area, Counter())[kind]) for kind in CLASSES)] for area in areas]
    return ["part", "reached", *CLASSES], [row for row in rows if any(cell != "0" for cell in row[1:])]


def remedy_grid(found: Sequence[Missed], most: int) -> Grid:
    """The functions with most branches that could be reached, and what would reach some of them."""
    by_function: dict[tuple[str, str], list[Missed]] = {}
    for each in found:
        if each.kind == MISSED:
            by_function.setdefault((each.module, each.function), []).append(each)
    ordered = sorted(by_function.items(), key=lambda item: (-len(item[1]), item[0]))[:most]
    rows = []
    for (module, function), branches in ordered:
        remedies = list(dict.fromkeys(each.remedy for each in branches if each.remedy.strip()))
        more = f"; {len(remedies) - 2} more" if len(remedies) > 2 else ""
        where = f"{module.removeprefix('keras.src.')}.{function}"
        rows.append([where, str(len(branches)), "; ".join(remedies[:2]) + more])
    return ["function", "missed", "what would reach it"], rows


def as_plain(found: Sequence[Missed], reached: Branches, files: Sequence[Path], command: str) -> dict[str, Any]:
    """The form of `--json`: every missed branch."""
    share, counts = reached.branch_share, Counter(each.kind for each in found)
    return {
        "experiment": "uncovered",
        "command": command,
        "machine": machine(),
        "of": [str(file) for file in files],
        "reached": share.covered,
        "classes": {kind: counts[kind] for kind in CLASSES},
        "missed": [{**asdict(each), "remedy": each.remedy} for each in found],
    }
