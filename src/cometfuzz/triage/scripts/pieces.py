"""The parts that a script is put together from."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from cometfuzz.ir.case import Manner
from cometfuzz.ir.types import FLOATS
from cometfuzz.triage.scripts.text import wrap

METADATA = "from importlib.metadata import version"


@dataclass(frozen=True)
class Results:
    """How an output becomes an array, and how the name of its dtype is had; `{}` stands for the output."""

    values: str
    dtype: str


ARRAYS = Results("{}", "{}.dtype.name")
TF = Results("{}.numpy()", "{}.dtype.name")
KERAS = Results("keras.ops.convert_to_numpy({})", "keras.backend.standardize_dtype({}.dtype)")


@dataclass(frozen=True)
class Engine:
    """How something that a script has built is run.

    call: the expression of the outputs, the last thing that can fail. pieces: (stage, lines), what comes before it.
    imports, standard: import statements, of the libraries and of the standard library; late_imports come after the
    libraries'. versions: name -> expression.
    """

    call: str
    results: Results
    imports: tuple[str, ...] = ()
    late_imports: tuple[str, ...] = ()
    standard: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    pieces: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True)
class Program:
    """A whole script but for its end: settings, what builds and what runs.

    data: lines that make the input arrays. before_imports, settings: lines before and after the imports. engine.pieces
    hold everything from the first stage on. symbolic: the names of the symbolic outputs that symbolic_lines make.
    always_versions: those that are printed though the script may not name the library.
    source: the expression of the unconverted model's outputs with how they are read, if there is one to compare with;
    source_is: whose outputs these are, in words.
    """

    data: tuple[str, ...]
    engine: Engine
    environ: Mapping[str, str] = field(default_factory=dict)
    always_versions: tuple[str, ...] = ()
    before_imports: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    symbolic: tuple[str, ...] = ()
    symbolic_lines: tuple[str, ...] = ()
    source: tuple[str, Results] | None = None
    source_is: str = "the model itself"


def run_before(
    engine: Engine, manner: Manner, inputs: Sequence[tuple[str, tuple[int, ...], str]], names: Sequence[str]
) -> Engine:
    """The engine of a model that has run at other sizes before, as its manner says.

    inputs: (node, shape, dtype), whose arrays have `names` in the script.
    """
    shapes = [manner.earlier(node, shape) for node, shape, _ in inputs]
    if not manner.before or not {node for node, _, _ in inputs} >= manner.opened.keys():
        return engine
    dtypes = ["float32" if dtype == "bfloat16" else dtype for _, _, dtype in inputs]
    made = [
        [
            f'np.{"ones" if dtype in FLOATS else "zeros"}({shape}, "{dtype}")'
            for shape, dtype in zip(each, dtypes, strict=True)
        ]
        for each in zip(*shapes, strict=True)
    ]
    listed = ", ".join(each[0] if len(each) == 1 else f"({', '.join(each)})" for each in made)
    call = engine.call
    for index, name in enumerate(names):
        call = re.sub(rf"(?<![\w.\"]){name}\b", "early" if len(names) == 1 else f"early[{index}]", call)
    lines = ["# It runs at other sizes first.", *wrap(f"for early in [{listed}]:"), *wrap(f"    {call}")]
    return replace(engine, pieces=(*engine.pieces, ("run", tuple(lines))))
