"""From text to a typed, valid Case, and back to a file."""

from pathlib import Path

from cometfuzz.catalogue.data import expected_tensors
from cometfuzz.catalogue.manners import expect_manner
from cometfuzz.catalogue.validate import assemble, assemble_breaking
from cometfuzz.errors import InvalidCase
from cometfuzz.ir.case import PLAIN, Case
from cometfuzz.ir.codec import MAX_BYTES, encode, parse
from cometfuzz.reading import read_regular


def decode(text: bytes, breaking: bool = False) -> Case:
    """The case in `text`, typed and valid, or one InvalidCase; never a partly built graph.

    `breaking`: also a case whose last node breaks the one rule that it declares.
    """
    parsed = parse(text)
    if parsed.breaks and not breaking:
        raise InvalidCase(f"$.breaks: expected a case that breaks no rule; received breaks={parsed.breaks!r:.80}")
    if parsed.breaks:
        graph = assemble_breaking(parsed.drafts, parsed.outputs, parsed.breaks)
    else:
        graph = assemble(parsed.drafts, parsed.outputs)
    if parsed.data:
        expected = expected_tensors(graph)
        for key, tensor in parsed.data.items():
            if key not in expected:
                raise InvalidCase(f"$.data[{key!r}]: expected an input or NODE/WEIGHT of the graph; received {key!r}")
            dtype, shape = expected[key]
            if (tensor.dtype, tensor.shape) != (dtype, shape):
                raise InvalidCase(
                    f"$.data[{key!r}]: expected {dtype}{list(shape)}; received {tensor.dtype}{list(tensor.shape)}"
                )
    if parsed.breaks and parsed.manner != PLAIN:
        raise InvalidCase("$.manner: expected none in a case that breaks a rule; received one")
    expect_manner(graph, parsed.manner)
    return Case(graph, parsed.rng_seed, parsed.data, parsed.breaks, parsed.manner)


def load(path: Path, breaking: bool = False) -> Case:
    """The case in a file; `breaking`: as `decode` has it."""
    return decode(read_regular(path, MAX_BYTES, InvalidCase), breaking)


def save(case: Case, path: Path) -> None:
    """Write the canonical text of a case."""
    path.write_bytes(encode(case))
