"""How a script ends: it says what was expected and what is seen, and exits 1 while the bug shows, else 0.

Every way of showing the bug prints a line that begins with "seen: "; an exception that the script does not expect does
not, so that it is never taken for the bug.
"""

from collections.abc import Sequence

import numpy as np

from cometfuzz.execution.memory import ENVIRON, OTHER, USUAL
from cometfuzz.ir.types import FLOATS
from cometfuzz.reference.bound import RELATIVE_FACTOR, Expected
from cometfuzz.reference.run import roundoff
from cometfuzz.triage.scripts.dialects import Dialect
from cometfuzz.triage.scripts.keras_code import quoted
from cometfuzz.triage.scripts.pieces import Program, Results
from cometfuzz.triage.scripts.text import array, assign, expected_array, indented, wrap

_SHOWN_IN_FULL = 100
"""Up to how many elements an array is printed as a list."""

_SHOWN_LETTERS = 500
"""How much is shown of answers that were compared as text."""

REPEATS = 20
"""How often a script that looks for other bits runs the model again."""


def pieces(program: Program, until: str = "") -> list[str]:
    """The lines of all stages, or of those before one."""
    lines: list[str] = []
    for stage, part in program.engine.pieces:
        if stage == until:
            break
        lines += part
    return lines


def crash(program: Program, stage: str) -> list[str]:
    """Expects no exception in a stage, or in all of them if none is named; what comes before is outside of the try."""
    before = pieces(program, until=stage) if stage else []
    core = [line for name, part in program.engine.pieces if name == stage or not stage for line in part]
    if stage in ("", "run") or not core:
        core += assign("seen", _values(program.engine.results, program.engine.call))
    return [
        *before,
        'print("expected: no exception")',
        "try:",
        *indented(core),
        "except Exception as error:  # noqa: BLE001",
        '    print(f"seen: {type(error).__name__}: {error}")',
        "    sys.exit(1)",
        'print("seen: no exception")',
    ]


def taken(program: Program, rule: str, says_otherwise: bool) -> list[str]:
    """Expects an exception, because the call breaks a rule; shows the shape of what comes instead.

    With `says_otherwise`, any result will do whose shape is the one that Keras says.
    """
    said = f", and Keras says {{tuple({program.symbolic[0]}.shape)}}" if says_otherwise else ""
    differs = f"0 if shape == tuple({program.symbolic[0]}.shape) else 1" if says_otherwise else "1"
    core = [line for _, part in program.engine.pieces for line in part]
    core += assign("result", _values(program.engine.results, program.engine.call))
    return [
        *wrap(f"print({quoted(f'expected: an exception, because the call breaks: {rule}')})"),
        "try:",
        *indented(core),
        "except Exception as error:  # noqa: BLE001",
        '    print(f"seen: {type(error).__name__}: {error}")',
        "    sys.exit(0)",
        "shape = tuple(result.shape)",
        f'print(f"seen: no exception, a result of shape {{shape}}{said}")',
        f"sys.exit({differs})",
    ]


def values(program: Program, expected: Sequence[Expected], agreeing: Sequence[str]) -> list[str]:
    """Compares outputs with what they should be: the unconverted model's where there is one, else as given."""
    lines = pieces(program)
    if len(expected) > 1:
        return lines + _several(program, expected, agreeing)
    (one,) = expected
    lines += _expected(program, one, agreeing)
    lines += assign("seen", f'{_values(program.engine.results, program.engine.call)}.astype("float64")')
    shown = ".tolist()" if one.value.size <= _SHOWN_IN_FULL else ""
    relative, absolute = tolerance(one)
    nan = program.source is not None or bool(np.isnan(one.value).any())  # NaN is wrong where none is expected
    tolerated = f"rtol={relative}, atol={absolute}" + ", equal_nan=True" * nan
    excuses = _excuses(one)
    if excuses:
        close = [f"close = np.isclose(seen, expected, {tolerated})", *excuses, "right = close.all()"]
        check = ["right = seen.shape == expected.shape", "if right:", *indented(close)]
    else:
        check = wrap(f"right = seen.shape == expected.shape and np.allclose(seen, expected, {tolerated})")
    return [
        *lines,
        f'print("expected:", expected{shown})',
        f'print("seen:    ", seen{shown})',
        *_says_tolerance(relative, absolute),
        *check,
        "sys.exit(0 if right else 1)",
    ]


def _says_tolerance(relative: str, absolute: str) -> list[str]:
    if relative == "0":
        return ["# The values must be exactly these."]
    absolute = "" if absolute == "0" else f"{absolute} + "
    return [f"# Rounding explains a difference of at most {absolute}{relative} * |expected|."]


def _expected(program: Program, one: Expected, agreeing: Sequence[str]) -> list[str]:
    if program.source is not None:
        call, results = program.source
        return assign("expected", f'{_values(results, call)}.astype("float64")', program.source_is)
    lines = list(agreeing)
    return lines + assign("expected", expected_array(one))


def _several(program: Program, expected: Sequence[Expected], agreeing: Sequence[str]) -> list[str]:
    if program.source is not None:
        call, results = program.source
        lines = wrap(f'expected = [{_values(results, "y")}.astype("float64") for y in {call}]  # {program.source_is}')
    else:
        lines = list(agreeing)
        lines += ["expected = ["]
        for one in expected:
            lines += wrap(f"    {expected_array(one)},")
        lines.append("]")
    seen = f'[{_values(program.engine.results, "y")}.astype("float64") for y in {program.engine.call}]'
    relative, absolutes = tolerance(expected[0])[0], [tolerance(one)[1] for one in expected]
    relative = max([tolerance(one)[0] for one in expected], key=float, default=relative)
    return [
        *lines,
        *assign("seen", seen),
        'print("expected:", [a.tolist() for a in expected])',
        'print("seen:    ", [a.tolist() for a in seen])',
        f"# Rounding explains a difference of at most atol + {relative} * |expected|.",
        f"atol = [{', '.join(absolutes)}]",
        "right = all(",
        f"    s.shape == e.shape and np.allclose(s, e, rtol={relative}, atol=a, equal_nan=True)",
        "    for s, e, a in zip(seen, expected, atol, strict=True)",
        ")",
        "sys.exit(0 if right else 1)",
    ]


def tolerance(expected: Expected) -> tuple[str, str]:
    """(relative, absolute), rounded up to two digits, so that together they are the error bound of the reference."""
    if expected.bound is None or expected.dtype not in FLOATS:
        return "0", "0"
    relative = expected.relative or RELATIVE_FACTOR * roundoff(expected.dtype)
    with np.errstate(all="ignore"):
        rest = expected.bound - relative * np.abs(expected.value)
    absolute = float(np.max(rest, initial=0.0, where=np.isfinite(rest)))
    return _rounded_up(relative), _rounded_up(absolute)


def _rounded_up(value: float) -> str:
    if not value:
        return "0"
    short = f"{value:.1e}"
    if float(short) < value:
        short = f"{value * 1.05:.1e}"
    return short.replace(".0e", "e")


def _excuses(expected: Expected) -> list[str]:
    """Lines for elements that are no evidence."""
    lines = []
    if expected.range_limited:
        note = f"near the end of the range of {expected.dtype}"
        lines.append(f"close |= ~np.isfinite(seen) | (seen == 0)  # {note}")
    if expected.blurred:
        lines.append("close |= np.isnan(seen) | (np.isinf(seen) & ~np.isfinite(expected))  # a sum with Inf may be NaN")
    if expected.tied is not None and expected.tied.any():
        lines += wrap(f"close |= {array(expected.tied, 'bool')}  # rounding may cross a step, or leave the range")
    return lines


def types(program: Program, kinds: Sequence[tuple[str, tuple[int, ...]]], note: Sequence[str] = ()) -> list[str]:
    """Compares the shapes and dtypes of outputs; `note`: who says so, if it is not the documentation."""
    engine = program.engine
    one = f"({engine.results.dtype.format('output')}, tuple(output.shape))"
    outputs = f"[{engine.call}]" if len(kinds) == 1 else engine.call
    return [
        *pieces(program),
        *note,
        *_expected_types(kinds),
        *assign("outputs", outputs),
        f"seen = [{one} for output in outputs]",
        *_compare_types(),
    ]


def static_types(program: Program, kinds: Sequence[tuple[str, tuple[int, ...]]], dialect: Dialect) -> list[str]:
    """Compares what Keras says of symbolic outputs; nothing is run for that."""
    dtype, shape = dialect.symbolic_dtype, dialect.symbolic_shape
    seen = ", ".join(f"({dtype.format(name)}, {shape.format(name)})" for name in program.symbolic)
    return [
        *program.symbolic_lines,
        *_expected_types(kinds),
        *assign("seen", f"[{seen}]"),
        *_compare_types(),
    ]


def own_types(program: Program, single: bool, dialect: Dialect) -> list[str]:
    """Compares the types of outputs with what Keras has said of them before; None is a size that it left open."""
    engine = program.engine
    said = f"({dialect.symbolic_dtype.format('y')}, {dialect.symbolic_shape.format('y')})"
    one = f"({engine.results.dtype.format('y')}, tuple(y.shape))"
    return [
        *pieces(program),
        *assign("expected", f"[{said} for y in model.outputs]"),
        *assign("seen", f"[{one} for y in {f'[{engine.call}]' if single else engine.call}]"),
        'print("expected:", expected)',
        'print("seen:    ", seen)',
        "right = all(",
        "    s[0] == e[0] and len(s[1]) == len(e[1]) and all(a in (None, b) for a, b in zip(e[1], s[1], strict=True))",
        "    for s, e in zip(seen, expected, strict=True)",
        ")",
        "sys.exit(0 if right else 1)",
    ]


def _expected_types(kinds: Sequence[tuple[str, tuple[int, ...]]]) -> list[str]:
    texts = ", ".join(f'("{dtype}", {tuple(shape)})' for dtype, shape in kinds)
    return assign("expected", f"[{texts}]")


def _compare_types() -> list[str]:
    return ['print("expected:", expected)', 'print("seen:    ", seen)', "sys.exit(0 if seen == expected else 1)"]


def declared_dtypes(program: Program, dtypes: Sequence[str]) -> list[str]:
    """Compares the dtypes that an ONNX file declares for its inputs and outputs with those of the model."""
    texts = ", ".join(f'"{dtype}"' for dtype in dtypes)
    one = "onnx.helper.tensor_dtype_to_np_dtype(v.type.tensor_type.elem_type).name"
    return [
        *pieces(program, until="load"),
        *assign("expected", f"[{texts}]"),
        *assign("seen", f"[{one} for v in [*proto.graph.input, *proto.graph.output]]"),
        *_compare_types(),
    ]


def other_bits(program: Program, single: bool) -> list[str]:
    """Runs the model again and again."""
    one = _values(program.engine.results, program.engine.call if single else "y")
    outputs = f"[{one}]" if single else f"[{one} for y in {program.engine.call}]"
    return [
        *pieces(program),
        *assign("first", outputs),
        f"for _ in range({REPEATS}):",
        *indented(assign("again", outputs)),
        "    if not all(np.array_equal(a, b, equal_nan=True) for a, b in zip(first, again, strict=True)):",
        '        print("expected: the same every time:", [a.tolist() for a in first])',
        '        print("seen:    ", [a.tolist() for a in again])',
        "        sys.exit(1)",
        f'print("seen: the same {REPEATS} times")',
    ]


def answers(program: Program, single: bool) -> list[str]:
    """Runs the model and prints what it gives, for a parent that compares it with what it gives in other memory."""
    one = _values(program.engine.results, program.engine.call if single else "y")
    outputs = f"[{one}]" if single else f"[{one} for y in {program.engine.call}]"
    return [*pieces(program), *assign("outputs", outputs), "print([output.tolist() for output in outputs])"]


def fill_memory() -> list[str]:
    """The parent of a script whose answer depends on memory: it runs itself in memory filled with one byte and with
    another one, and with the first one again, so that what differs by itself is not taken for it."""
    tunables = ENVIRON["GLIBC_TUNABLES"]
    return [
        "# glibc fills memory with a byte if it is told to, so that what nobody has written shows.",
        "# Other C libraries do not: there this script shows nothing.",
        'if "child" not in sys.argv:',
        "    answers = []",
        f'    for byte in ("{USUAL}", "{OTHER}", "{USUAL}"):',
        f'        filled = {{"MALLOC_PERTURB_": byte, "GLIBC_TUNABLES": "{tunables}"}}',
        "        child = subprocess.run(",
        '            [sys.executable, __file__, "child"],',
        "            env={**os.environ, **filled},",
        "            stdout=subprocess.PIPE,",
        "            text=True,",
        "            check=False,",
        "        )",
        "        if child.returncode == 2:",
        "            print(child.stdout)",
        "            sys.exit(2)",
        "        versions, _, answer = child.stdout.strip().rpartition(chr(10))",
        '        answers.append(answer if child.returncode == 0 else f"exit code {child.returncode}")',
        "    first, other, again = answers",
        "    print(versions)",
        f'    print("expected: the same whatever memory held before:", first[:{_SHOWN_LETTERS}])',
        f'    print("seen:    ", other[:{_SHOWN_LETTERS}])',
        "    sys.exit(1 if first == again != other else 0)",
    ]


def plainly(program: Program) -> list[str]:
    """Runs the model, for a parent that watches how that ends."""
    return [*pieces(program), *assign("seen", _values(program.engine.results, program.engine.call)), 'print("done")']


def plainly_refused(program: Program) -> list[str]:
    """The same for a call that breaks a rule: an exception is how it should end."""
    return [
        "try:",
        *indented(plainly(program)),
        "except Exception as error:  # noqa: BLE001",
        '    print(f"refused: {type(error).__name__}: {error}")',
    ]


def watch(limit_s: int | None, memory_gib: int | None) -> list[str]:
    """The parent of a script that dies or hangs: it runs itself again as its own child."""
    timeout = "" if limit_s is None else f", timeout={limit_s}"
    run = f'code = subprocess.run([sys.executable, __file__, "child"], check=False{timeout}).returncode'
    if limit_s is not None:
        lines = [
            f"# It does not come to an end, so it gets {limit_s} s as a process of its own.",
            "try:",
            f"    {run}",
            "except subprocess.TimeoutExpired:",
            f'    print("expected: an end within {limit_s} s")',
            f'    print("seen: still running after {limit_s} s")',
            "    sys.exit(1)",
            'print("seen: exit code", code)',
            "sys.exit(2 if code == 2 else 0)",
        ]
    else:
        lines = [
            "# The process dies, so another one looks at how it ends.",
            run,
            'print("expected: exit code 0")',
            'print("seen:", signal.Signals(-code).name if code < 0 else f"exit code {code}")',
            "sys.exit(code if code in (0, 2) else 1)",
        ]
    block = ['if "child" not in sys.argv:', *indented(lines)]
    if memory_gib is not None:
        block.append(f"resource.setrlimit(resource.RLIMIT_DATA, ({memory_gib} * 2**30,) * 2)")
    return block


def _values(results: Results, expression: str) -> str:
    return results.values.format(expression)
