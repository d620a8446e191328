"""Shorter scripts for readers of ONNX files: only the operators that the bug needs, of all that a converter has made.

What a cut model should do comes from a runtime that is not the one in question, and only from one that does the whole
model right. Scripts are tried in forks of one process.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cometfuzz.catalogue.data import Array
from cometfuzz.reference.bound import Expected
from cometfuzz.reference.run import roundoff
from cometfuzz.routes import Step
from cometfuzz.routes.onnx_reference import ONNX_REFERENCE
from cometfuzz.routes.onnxruntime import ONNXRUNTIME_NOOPT
from cometfuzz.triage.fork_server import ForkServer, fork_server
from cometfuzz.triage.running import Ran
from cometfuzz.triage.scripts.frame import imports_of
from cometfuzz.triage.scripts.onnx_cut import Values, cut, operators
from cometfuzz.triage.scripts.onnx_graph import FLOATS, NUMPY_DTYPES, Fed, OnnxTensor
from cometfuzz.triage.scripts.onnx_program import observing

SOURCES = {"ONNX Runtime": ONNXRUNTIME_NOOPT.steps[-1], "ONNX's ReferenceEvaluator": ONNX_REFERENCE.steps[-1]}
"""The readers that others are measured by, by what a script calls them."""

ROUNDOFFS = 1000
"""By how many units of roundoff of the largest value one must be off to be called wrong."""


@dataclass(frozen=True)
class Cut:
    """A cut model, what its outputs should be, who says so, and of how many operators it was cut."""

    fed: Fed
    expected: tuple[Expected, ...]
    source: str
    whole: int


@dataclass(frozen=True)
class Question:
    """What is known of a bug whose script is to be shorter.

    library: the one that reads the file. write: the script of a cut model. shows: whether a run shows this bug.
    trusts: whether outputs of the whole model are what they should be. alike: whether a value of a cut model is still
    the one that the whole model has there.
    """

    fed: Fed
    library: str
    python: Path
    script: str
    write: Callable[[Cut], str]
    shows: Callable[[Ran], bool]
    trusts: Callable[[Sequence[OnnxTensor]], bool]
    alike: Callable[[OnnxTensor, OnnxTensor | None], bool]


def shorter(question: Question) -> str | None:
    """A shorter script, seen to show the bug in a fork; None if there is none, or nobody to say what is right."""
    others = {name: step for name, step in SOURCES.items() if step.stages[0].library != question.library}
    with fork_server(question.python, _IMPORTS + imports_of(question.script)) as stage:
        observed = {name: observe(stage, question.fed, step) for name, step in others.items()}
        sources = {name: values for name, values in observed.items() if _right(question, values)}
        return _Search(question, stage, sources).best() if sources else None


def _right(question: Question, values: Values) -> bool:
    names = [value.name for value in question.fed.model.graph.outputs]
    return all(name in values for name in names) and question.trusts([values[name] for name in names])


_IMPORTS = "import sys\nimport numpy\nimport onnx.reference\nimport onnxruntime\n"


@dataclass(frozen=True)
class _Search:
    """`sources`: who does the whole model right, with its values there. A cut model must be good for all of them."""

    question: Question
    stage: ForkServer
    sources: Mapping[str, Values]

    def best(self) -> str | None:
        fed, source = self.question.fed, next(iter(self.sources))
        found = cut(fed, lambda each: observe(self.stage, each, SOURCES[source]), self._shows)
        if found is fed:
            return None
        text = self._script(found)
        return text if text is not None and text.count("\n") < self.question.script.count("\n") else None

    def _shows(self, fed: Fed) -> bool:
        text = self._script(fed)
        return text is not None and self.question.shows(self.stage.run(text))

    def _script(self, fed: Fed) -> str | None:
        """The script of a cut model; None if a source does not run it, or gives what the whole model has not."""
        names = [value.name for value in fed.model.graph.outputs]
        said = {}
        for source, whole in self.sources.items():
            values = observe(self.stage, fed, SOURCES[source])
            if not all(name in values and self.question.alike(values[name], whole.get(name)) for name in names):
                return None
            said[source] = tuple(_expected(values[name]) for name in names)
        source, expected = next(iter(said.items()))
        return self.question.write(Cut(fed, expected, source, operators(self.question.fed)))


def array_of(tensor: OnnxTensor) -> Array:
    """The values of a tensor as an array."""
    return np.array(tensor.values, NUMPY_DTYPES[tensor.dtype]).reshape(tensor.shape)


def _expected(tensor: OnnxTensor) -> Expected:
    dtype, value = NUMPY_DTYPES[tensor.dtype], array_of(tensor)
    if tensor.dtype not in FLOATS:
        return Expected(dtype, value)
    value = value.astype(np.float64)
    peak = float(np.max(np.abs(value), initial=0.0, where=np.isfinite(value)))
    return Expected(dtype, value, np.full(value.shape, ROUNDOFFS * roundoff(dtype) * peak))


def observe(stage: ForkServer, fed: Fed, source: Step) -> Mapping[str, OnnxTensor]:
    """All values that a model has on a source, by name, its inputs and constants included; none if it does not run."""
    ran = stage.run(observing(fed, source))
    lines = [line for line in ran.printed.splitlines() if line.startswith("values:")]
    if ran.exit_code != 0 or not lines:
        return {}
    plain = json.loads(lines[-1].removeprefix("values:"))
    seen = {name: OnnxTensor(dtype, tuple(shape), tuple(values)) for name, dtype, shape, values in plain}
    return {**fed.model.graph.constants, **fed.feeds, **{n: t for n, t in seen.items() if t.dtype in NUMPY_DTYPES}}
