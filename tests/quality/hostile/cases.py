"""Case files."""

import base64
import json
from collections.abc import Callable
from typing import Any

from hostile.rows import ESCAPE, TINY, Make, Row, both, fifo, file, folder, link, run_to, sparse

EXEC = ("exec", "case.json", "--routes", "reference")
CHECK = ("check", "case.json", "--routes", "reference")
SYNTHESISE = ("synthesise", "case.json", "--runs", "1")
REDUCE = ("reduce", "case.json", "--route", "reference", "--beside", "reference")
SEED = run_to("campaign", "--seeds", "case.json")


def but(change: Callable[[dict[str, Any]], object]) -> Make:
    """The case, changed."""
    case = json.loads(TINY)
    change(case)
    return file("case.json", json.dumps(case))


def node(**fields: Any) -> Make:
    """The case with another layer."""
    return but(lambda case: case["graph"]["nodes"][1].update(fields))


def shape(*sizes: Any) -> Make:
    """The case with another input."""
    return but(lambda case: case["graph"]["nodes"][0]["params"].update(shape=list(sizes)))


def swapped(old: str, new: str) -> Make:
    """The case with a piece of its text swapped."""
    assert old in TINY
    return file("case.json", TINY.replace(old, new, 1))


def chain(length: int) -> Make:
    """A long chain of layers."""

    def lengthen(case: dict[str, Any]) -> None:
        nodes = case["graph"]["nodes"]
        nodes += [
            {"id": f"n{at}", "layer": "ReLU", "inputs": [[f"n{at - 1}" if at else "n", 0]]} for at in range(length)
        ]

    return but(lengthen)


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


CYCLE = [
    {"id": "a", "layer": "Add", "inputs": [["b", 0], ["x", 0]]},
    {"id": "b", "layer": "ReLU", "inputs": [["a", 0]]},
]
TENSOR = {"dtype": "float32", "shape": [4, 2], "bytes": base64.b64encode(bytes(32)).decode()}
LONG = "n" * 1000

ROWS = (
    Row("case-fine", EXEC, file("case.json", TINY), codes=(0,)),
    Row("case-manner-fine", EXEC, but(lambda case: case.update(manner={"opened": {"x": [0]}})), codes=(0,)),
    Row("case-manner-text", EXEC, but(lambda case: case.update(manner="open")), words=("$.manner",)),
    Row("case-manner-unknown", EXEC, but(lambda case: case.update(manner={ESCAPE: 1}))),
    Row("case-manner-opset", EXEC, but(lambda case: case.update(manner={"opset": 10**30}))),
    Row("case-manner-input", EXEC, but(lambda case: case.update(manner={"opened": {ESCAPE: [0]}})), words=("opened",)),
    Row("case-manner-inside", EXEC, but(lambda case: case.update(manner={"inside": [ESCAPE] * 99})), words=("inside",)),
    Row(
        "case-manner-huge",
        EXEC,
        but(lambda case: case.update(manner={"opened": {"x": [0]}, "before": [{"x": [2**31 - 1]}]})),
        words=("before",),
    ),
    Row("case-missing", EXEC, words=("case.json",)),
    Row("case-empty", EXEC, file("case.json", "")),
    Row("case-truncated", EXEC, file("case.json", TINY[:-7])),
    Row("case-truncated-check", CHECK, file("case.json", TINY[:100])),
    Row("case-binary", EXEC, file("case.json", bytes(range(256)) * 8)),
    Row("case-binary-reduce", REDUCE, file("case.json", b"\x7fELF\x02\x01\x01" + bytes(200))),
    Row("case-utf16", EXEC, file("case.json", TINY.encode("utf-16"))),
    Row("case-byte-order-mark", EXEC, file("case.json", b"\xef\xbb\xbf" + TINY.encode())),
    Row("case-not-utf8", EXEC, swapped('"Dense"', '"D\udcffnse"')),
    Row("case-number-instead", EXEC, file("case.json", "5")),
    Row("case-list-instead", EXEC, file("case.json", "[]")),
    Row("case-deep-nesting", EXEC, file("case.json", nested(100_000))),
    Row("case-deep-parameters", EXEC, swapped('"units": 2', f'"units": {nested(900)}')),
    Row("case-deep-parameters-seed", SEED, swapped('"units": 2', f'"units": {nested(100)}'), absent=("campaign",)),
    Row("case-nan", EXEC, swapped('"units": 2', '"units": NaN')),
    Row("case-infinity", EXEC, swapped('"units": 2', '"units": 1e999')),
    Row("case-huge-integer", EXEC, swapped('"units": 2', f'"units": {"9" * 5000}')),
    Row("case-huge-seed", EXEC, swapped('"rng_seed": 1', '"rng_seed": 1' + "0" * 40)),
    Row("case-negative-seed", EXEC, swapped('"rng_seed": 1', '"rng_seed": -1')),
    Row("case-other-version", EXEC, swapped('"version": 1', '"version": 2')),
    Row("case-duplicate-keys", EXEC, swapped('"rng_seed": 1', '"rng_seed": 1, "rng_seed": 2'), codes=(0, 2)),
    Row("case-unknown-key", EXEC, swapped('"rng_seed": 1', '"rng_seed": 1, "hook": "rm -rf"')),
    Row("case-unknown-layer", EXEC, node(layer="Lambda")),
    Row("case-unknown-parameter", EXEC, node(params={"units": 2, "__class__": "os.system"})),
    Row("case-escape-in-layer", EXEC, node(layer=f"Dense{ESCAPE}")),
    Row("case-escape-in-id", EXEC, node(id=f"n{ESCAPE}")),
    Row("case-escape-in-parameter-name", EXEC, node(params={f"units{ESCAPE}": 2})),
    Row("case-escape-in-parameter", EXEC, node(params={"units": 2, "activation": ESCAPE})),
    Row("case-escape-in-key", EXEC, swapped('"rng_seed": 1', f'"rng_seed": 1, {json.dumps(ESCAPE)}: 2')),
    Row("case-escape-in-data-key", EXEC, but(lambda case: case["data"].update({ESCAPE: TENSOR}))),
    Row("case-surrogate", EXEC, swapped('"Dense"', r'"\ud800"')),
    Row("case-traversal-in-id", EXEC, node(id="../../outside/owned")),
    Row("case-cycle", EXEC, but(lambda case: case["graph"]["nodes"].extend(CYCLE)), words=("cycle",)),
    Row("case-reads-itself", EXEC, node(inputs=[["n", 0]]), words=("cycle",)),
    Row("case-reads-nobody", EXEC, node(inputs=[["ghost", 0]]), words=("ghost",)),
    Row("case-reads-no-such-output", EXEC, node(inputs=[["x", 2**40]])),
    Row("case-negative-output", EXEC, node(inputs=[["x", -1]])),
    Row("case-wrong-number-of-inputs", EXEC, node(inputs=[["x", 0]] * 9)),
    Row("case-wrong-types", EXEC, node(params={"units": "two", "use_bias": 7})),
    Row("case-params-are-a-list", EXEC, node(params=[1])),
    Row("case-no-outputs", EXEC, but(lambda case: case["graph"].update(outputs=[]))),
    Row("case-no-nodes", EXEC, but(lambda case: case["graph"].update(nodes=[]))),
    Row("case-same-id-twice", EXEC, node(id="x")),
    Row("case-too-many-nodes", EXEC, chain(10_001)),
    Row("case-many-nodes-check", CHECK, chain(3_000), codes=(0, 1, 2)),
    Row("case-negative-shape", EXEC, shape(1, -4)),
    Row("case-shape-of-texts", EXEC, shape(1, "4")),
    Row("case-giant-shape", EXEC, shape(1, 2**31 - 1, 2**31 - 1)),
    Row("case-giant-shape-check", CHECK, shape(1, 2**31 - 1)),
    Row("case-giant-shape-reduce", REDUCE, shape(2**20, 2**20)),
    Row("case-giant-shape-synthesise", SYNTHESISE, shape(1, 2**31 - 1, 2**31 - 1), codes=(0, 2)),
    Row("case-giant-rank", EXEC, shape(*[1] * 5000)),
    Row("case-giant-weights", EXEC, node(params={"units": 2**31 - 1})),
    Row("case-giant-weights-seed", SEED, node(params={"units": 10**30}), absent=("campaign",)),
    Row("case-tensor-of-nobody", EXEC, but(lambda case: case["data"].update(ghost=TENSOR))),
    Row(
        "case-tensor-too-short", EXEC, but(lambda case: case["data"].update({"n/kernel": {**TENSOR, "shape": [9, 9]}}))
    ),
    Row("case-tensor-giant", EXEC, but(lambda case: case["data"].update(x={**TENSOR, "shape": [2**31 - 1] * 40}))),
    Row("case-tensor-not-base64", EXEC, but(lambda case: case["data"].update(x={**TENSOR, "bytes": "%%%"}))),
    Row("case-tensor-of-objects", EXEC, but(lambda case: case["data"].update(x={**TENSOR, "dtype": "object"}))),
    Row("case-beyond-the-size-limit", EXEC, sparse("case.json", 65 * 2**20), words=("case.json",)),
    Row("case-sparse-terabyte", CHECK, sparse("case.json", 2**40), words=("case.json",)),
    Row("case-fifo", EXEC, fifo("case.json"), words=("case.json",)),
    Row("case-fifo-check", CHECK, fifo("case.json"), words=("case.json",)),
    Row("case-fifo-reduce", REDUCE, fifo("case.json"), words=("case.json",)),
    Row("case-fifo-synthesise", SYNTHESISE, fifo("case.json"), words=("case.json",)),
    Row("case-fifo-seed", SEED, fifo("case.json"), words=("case.json",), absent=("campaign",)),
    Row("case-link-to-fifo", EXEC, both(fifo("pipe"), link("case.json", "pipe")), words=("case.json",)),
    Row("case-dev-zero", ("exec", "/dev/zero", "--routes", "reference"), words=("/dev/zero",)),
    Row("case-dev-zero-check", ("check", "/dev/zero"), words=("/dev/zero",)),
    Row("case-link-to-dev-zero", SYNTHESISE, link("case.json", "/dev/zero"), words=("case.json",)),
    Row("case-dev-stdin", ("exec", "/dev/stdin", "--routes", "reference")),
    Row("case-proc-mem", ("exec", "/proc/self/mem", "--routes", "reference"), words=("/proc/self/mem",)),
    Row("case-folder", EXEC, folder("case.json"), words=("case.json",)),
    Row("case-link-loop", EXEC, link("case.json", "case.json"), words=("case.json",)),
    Row("case-beneath-a-file", ("exec", "case.json/case.json"), file("case.json", TINY), words=("case.json",)),
    Row("case-name-of-1000-bytes", ("exec", f"{LONG}.json"), words=("too long",)),
    Row("case-escape-in-file-name", ("exec", f"case{ESCAPE}.json")),
    Row("case-line-break-in-file-name", ("exec", "case\ncometfuzz: all is well\n.json")),
    Row("case-name-not-utf8", ("check", "case\udcff\udc9b.json")),
    Row("case-empty-name", ("exec", "")),
)
