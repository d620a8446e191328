"""The answer for a file that no graph of ours stands for: readers of an ONNX file, judged by each other.

The answer of most libraries is taken for right; of as many, that of onnx's own evaluator, which says what
the file means.
"""

from collections.abc import Mapping

from cometfuzz.execution.outcome import Outcome
from cometfuzz.ir.graph import INPUT, Edge, Graph, Node, Params
from cometfuzz.ir.types import TensorType
from cometfuzz.oracles.agreement import Difference, differences, distance
from cometfuzz.oracles.checking import Answer
from cometfuzz.routes.onnx_reference import ONNX_REFERENCE

MEANING = ONNX_REFERENCE.name
"""The route whose answer counts where as many libraries give another one."""

ALONE = "nothing to compare it with: it takes two libraries that complete"


def judge_readers(inputs: Mapping[str, TensorType], outcomes: Mapping[str, Outcome]) -> list[Answer]:
    """One answer for each reader of a file."""
    completed = {name: each for name, each in outcomes.items() if each.status == "completed"}
    camps = _camps(inputs, completed)
    libraries = [{completed[name].library for name in camp} for camp in camps]
    judged = len(set().union(*libraries)) > 1
    right = camps[0] if camps else []
    tied = [len(each) == len(libraries[0]) for each in libraries]
    answers = []
    for name, outcome in outcomes.items():
        if outcome.status != "completed":
            unable = outcome.status == "unavailable" or (outcome.failure is not None and outcome.failure.disk_full)
            answers.append(Answer(name, "not judged" if unable else "failed", str(outcome)))
            continue
        apart = distance(completed[right[0]], outcome)
        place = next(number for number, camp in enumerate(camps) if name in camp)
        if not judged:
            answers.append(Answer(name, "not judged", ALONE, apart))
        elif place == 0:
            answers.append(Answer(name, "agrees", "", apart))
        else:
            symptom, text = _difference(inputs, completed[right[0]], outcome) or ("value", "")
            doubt = "; either may be wrong" if tied[place] and MEANING not in right else ""
            told = f"{symptom}: differs from {', '.join(right[:3])}{doubt}: {text}"
            answers.append(Answer(name, "disagrees", told, apart))
    return answers


def _camps(inputs: Mapping[str, TensorType], completed: Mapping[str, Outcome]) -> list[list[str]]:
    """Readers that give one answer; first that of most libraries, or the evaluator's among equals."""
    camps: list[list[str]] = []
    for name, outcome in completed.items():
        for camp in camps:
            if _difference(inputs, completed[camp[0]], outcome) is None:
                camp.append(name)
                break
        else:
            camps.append([name])
    return sorted(camps, key=lambda camp: (-len({completed[name].library for name in camp}), MEANING not in camp))


def _difference(inputs: Mapping[str, TensorType], one: Outcome, other: Outcome) -> Difference | None:
    found = differences(_as_graph(inputs, one), one, other)
    return next(iter(found.values()), None)


def _as_graph(inputs: Mapping[str, TensorType], outcome: Outcome) -> Graph:
    """A graph of one node that gives what a reader gave."""
    given = [Node(name, INPUT, Params(), (), (kind,)) for name, kind in inputs.items()]
    made = tuple(TensorType(each.dtype, tuple(each.shape)) for each in outcome.outputs)
    node = Node("the file", "file", Params(), tuple(Edge(each.id) for each in given), made)
    return Graph((*given, node), tuple(Edge(node.id, place) for place in range(len(made))))
