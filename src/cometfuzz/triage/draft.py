"""Issue drafts: a bug as Markdown in the form that the blamed library's tracker asks for.

A draft says only what was measured: the script, what it printed in a clean process, and who agrees. Text that comes
from a library stands in fences that it cannot close.
"""

import platform
import re
from collections.abc import Mapping, Sequence

from cometfuzz.execution.outcome import readable
from cometfuzz.oracles.symptoms import about
from cometfuzz.routes import Route
from cometfuzz.routes.registry import ROUTES
from cometfuzz.triage.blame import AGAINST
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.scripts.onnx_program import CUT
from cometfuzz.triage.scripts.text import without_us
from cometfuzz.triage.trackers import PLAIN, TRACKERS, Content

_SEVERITIES = {
    "ordinary": "",
    "overflow": "The values come near the end of the dtype's range.",
    "empty": "A dimension has size zero.",
    "special": "NaN or Inf is among the inputs.",
}
MAX_OUTPUT = 6000
"""How much of the output goes into a draft."""
MAX_LINE = 400
MAX_WAYS = 6


def draft(bug: Bug, routes: Mapping[str, Route] = ROUTES) -> str:
    """The text of an issue: its title as the first heading, then the tracker's sections."""
    tracker = TRACKERS.get(bug.blame.library, PLAIN)
    parts = [f"# {tracker.prefix}{_line(bug.title)}"]
    if tracker.address:
        parts.append(f"<!-- for {tracker.address} -->")
    for heading, contents in tracker.sections:
        texts = [contents] if isinstance(contents, str) else [_content(bug, routes, each) for each in contents]
        filled = [text for text in texts if text]
        if filled:
            parts += [f"### {heading}", *filled]
    return "\n\n".join(parts) + "\n"


def _content(bug: Bug, routes: Mapping[str, Route], content: Content) -> str:
    if content == "problem":
        return _problem(bug)
    if content == "seen":
        return f"{about(bug.finding.symptom).text}\n\n{_fenced(_shown(bug))}"
    if content == "expected":
        return _expected(bug)
    if content == "others":
        return _others(bug, routes)
    if content == "script":
        return _fenced(bug.script.text, "python") if bug.script else ""
    if content == "output":
        return _fenced(_shortened(bug.script.output)) if bug.script and bug.script.output else ""
    if content == "versions":
        return "\n".join(f"- {name} {version}" for name, version in _versions(bug, routes).items())
    if content == "own version":
        return bug.versions.get(bug.blame.library, "")
    if content == "python":
        return platform.python_version()
    return f"- {platform.platform()}, CPU\n- Python {platform.python_version()}"


def _versions(bug: Bug, routes: Mapping[str, Route]) -> Mapping[str, str]:
    """Of what has a part in it: the libraries of the failing route and those that the script names; else of all."""
    ways = [routes[name] for name in bug.finding.camps[0].routes[:1] if name in routes]
    text = bug.script.text if bug.script else ""
    taking_part = {bug.blame.library, *(stage.library for way in ways for stage in way.stages)}
    found = {name: at for name, at in bug.versions.items() if name in taking_part or f'"{name}"' in text}
    return found or bug.versions


def _problem(bug: Bug) -> str:
    place = " > ".join(bug.signature.layers) or "The model"
    condition = f" with {_inline(bug.signature.condition)}" if bug.signature.condition else ""
    fault = f"the fault is in {_line(bug.blame.role)}."
    if bug.blame.role == AGAINST:
        fault = "all libraries do otherwise than the documentation says."
    sentences = [f"{place}{condition}: {fault}"]
    sentences.append(_SEVERITIES[bug.severity])
    if bug.flaky:
        sentences.append(f"It shows in {bug.shown} of {bug.runs} runs.")
    if bug.known:
        sentences.append(f"Known: {_line(bug.known)}")
    return " ".join(sentence for sentence in sentences if sentence)


def _shown(bug: Bug) -> str:
    """What is seen, in a line: by the script if it raises, else by the oracle that looked at it."""
    lines = bug.script.output.splitlines() if bug.script and about(bug.finding.symptom).raises else []
    raised = [readable(line.removeprefix("seen: ")) for line in lines if line.startswith("seen: ")]
    return (raised[-1] if raised else without_us(bug.finding.detail))[:MAX_LINE]


def _expected(bug: Bug) -> str:
    end = about(bug.finding.symptom).end
    cut = bug.script is not None and CUT in bug.script.text
    if cut and end in ("values", "types"):
        return (
            "The script has a part of the converted model. What is expected of it comes from another runtime, which"
            " gives for the whole model what follows from the documented meaning of the layers."
        )
    if end == "values":
        return (
            "The expected values in the script follow from the documented meaning of the layers, computed in float64,"
            " or from the unconverted model. The tolerance is what rounding in the model's dtype can explain."
        )
    if end == "types":
        return "The expected shape and dtype follow from the documented meaning of the layers."
    if end == "bits":
        return "Inference of one model on the same data should give the same result every time."
    if end == "hang":
        return "An end within seconds."
    return "A result: the model is valid by the documentation." + (
        " If it is not meant to be supported, an exception that says so." if end == "death" else ""
    )


def _others(bug: Bug, routes: Mapping[str, Route]) -> str:
    """Which other ways agree with what was expected, and which fail in the same way."""
    failing, *agreeing = bug.finding.camps
    lines = []
    right = [name for camp in agreeing for name in camp.routes if name in routes]
    if right:
        lines.append(f"As expected: {_ways(right, routes)}.")
    if len(failing.routes) > 1:
        lines.append(f"Fails in the same way: {_ways(failing.routes, routes)}.")
    return "\n\n".join(lines)


def _ways(names: Sequence[str], routes: Mapping[str, Route]) -> str:
    """Routes in words that do not need our own."""
    paths = [routes[name].path for name in names if name in routes]
    more = [f"{len(paths) - MAX_WAYS} more"] if len(paths) > MAX_WAYS else []
    text = "; ".join([*paths[:MAX_WAYS], *more])
    return text.replace("keras-tf", "Keras on TensorFlow").replace("keras-torch", "Keras on PyTorch")


def _line(text: str) -> str:
    """Text for the running line: no line breaks, nothing that Markdown or HTML would read as markup."""
    return re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", " ".join(text.split()))


def _inline(text: str) -> str:
    return "`" + " ".join(text.replace("`", "'").split()) + "`"


def _fenced(text: str, language: str = "") -> str:
    """A fenced block with a fence longer than any in the text."""
    clean = re.sub(r"\x1b\[[0-9;]*m", "", text)
    longest = max((len(run) for run in re.findall(r"`+", clean)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{clean.rstrip()}\n{fence}"


def _shortened(text: str) -> str:
    if len(text) <= MAX_OUTPUT:
        return text
    half = MAX_OUTPUT // 2
    return f"{text[:half]}\n...\n{text[-half:]}"
