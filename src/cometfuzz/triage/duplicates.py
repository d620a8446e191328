"""Words to look for in a tracker before an issue is filed: who reports what is known already is no help."""

import ast
import re
from collections.abc import Set
from dataclasses import dataclass

from cometfuzz.ledger.defect import Defect
from cometfuzz.oracles.symptoms import about
from cometfuzz.routes.trackers import Tracker
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.example import Example

_LIBRARIES = {"keras", "tf", "torch", "onnx"}
_OPERATOR = re.compile(r"= ([A-Z]\w+) ?[(<]")
"""A call of an operator in the text form of ONNX."""
_PLUMBING = re.compile(
    r"keras\.(Input|Model|ops\.(ones|zeros|array|convert_to_\w+|sum))"
    r"|tf\.(zeros|ones|constant|reshape|function|TensorSpec)|onnx\.(?!reference)\S+"
    r"|torch\.(ones|zeros|arange|from_numpy|tensor|library\.\w+|testing\.\w+)"
)
_USUAL = {"axis", "batch_size", "data_format", "dtype", "flush", "full_check", "keepdims", "input_signature", "opset"}
_USUAL |= {"kernel_initializer", "mode", "method", "output_shape", "pool_size", "strides", "verbose", "num_heads"}
"""Arguments that tell nothing of a defect."""
_PARTS = re.compile(r"\[\w+\]|was false\.|: FAIL :")
_STOP = re.compile(r"[\[(\"'{\n]|\d|, got ")


@dataclass(frozen=True)
class Query:
    """Words, and the address that looks for them; empty where nobody knows a tracker."""

    words: str
    address: str


def queries(defect: Defect, bug: Bug, example: Example | None, tracker: Tracker) -> tuple[Query, ...]:
    """What to look for: functions and arguments, the exception, the function with the violated property."""
    names, arguments = told_by(example.text if example is not None and example.by_hand else "")
    names = names or list(dict.fromkeys(bug.signature.layers)) or [defect.library]
    symptom = bug.finding.symptom
    words = [" ".join([*names[:3], *arguments[:2]]), f"{names[0]} {about(symptom).searched or symptom}"]
    message = _exception(example.actual if example else "")
    if message and about(symptom).raises:
        words.insert(1, message)
    return tuple(Query(each, tracker.search(each)) for each in dict.fromkeys(words))


def told_by(text: str) -> tuple[list[str], list[str]]:
    """The functions or operators that an example calls, and the arguments it names: the telling ones only."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return [], []
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    calls.sort(key=lambda call: (call.lineno, call.col_offset))
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    telling = {ast.unparse(call.func): call for call in calls if _tells(ast.unparse(call.func), imported)}
    names = [name.rpartition(".")[2] for name in telling]
    arguments = [word.arg for call in telling.values() for word in call.keywords if word.arg]
    texts = [
        given.value
        for call in telling.values()
        for given in call.args
        if isinstance(given, ast.Constant) and isinstance(given.value, str) and given.value.isidentifier()
    ]
    kept = [word for word in (*arguments, *texts) if word not in _USUAL]
    return list(dict.fromkeys([*_OPERATOR.findall(text), *names])), list(dict.fromkeys(kept))


def _tells(name: str, imported: Set[str]) -> bool:
    """Whether the name of a function is one of a library, and not one that every example calls."""
    known = name in imported or name.partition(".")[0] in _LIBRARIES
    return known and re.fullmatch(r"[\w.]+", name) is not None and _PLUMBING.fullmatch(name) is None


def _exception(actual: str) -> str:
    """The class of an exception and the first of its words that hold for everybody."""
    found = re.search(r"^(\w*(?:Error|Exception|Fail|Fault)): (.*)", actual, re.MULTILINE)
    if found is None:
        return ""
    said = _STOP.split(_PARTS.split(found[2])[-1].strip())[0].split()
    return " ".join([found[1], *said[:7]]).rstrip(" :.")
