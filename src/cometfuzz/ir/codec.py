"""Canonical JSON of cases.

`parse` checks structure only (it knows no layer); `catalogue.files.decode` types what it returns. `encode` gives the
one canonical text of a case, and `case_id` its hash. Parent process only: workers speak `protocol`.
"""

import base64
import binascii
import hashlib
import heapq
import math
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple, TypeVar

import msgspec
from msgspec import Meta

from cometfuzz.errors import InvalidCase
from cometfuzz.ir.case import Case, Exporter, Manner, Tensor
from cometfuzz.ir.graph import Draft, Edge, Inner, Node, Params
from cometfuzz.ir.plain import graph_to_plain, manner_from_plain, manner_to_plain
from cometfuzz.ir.recent import Recent
from cometfuzz.ir.types import DTYPES, MAX_RANK

VERSION = 1
MAX_BYTES = 64 * 2**20
MAX_NODES = 10_000
MAX_DIMENSION = 2**31 - 1
MAX_OPSET = 99
MOST_BEFORE = 4
"""At how many other sizes a model may run before its own."""

_ID = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


class _NodeText(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    layer: str
    params: dict[str, Any] = {}
    inputs: list[tuple[str, int]] = []


class _GraphText(msgspec.Struct, forbid_unknown_fields=True):
    nodes: list[_NodeText]
    outputs: list[tuple[str, int]]


class _TensorText(msgspec.Struct, forbid_unknown_fields=True):
    dtype: str
    shape: list[int]
    bytes: str


Axis = Annotated[int, Meta(ge=0, lt=MAX_RANK)]
Length = Annotated[int, Meta(ge=0, le=MAX_DIMENSION)]


class _MannerText(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    opset: Annotated[int, Meta(ge=0, le=MAX_OPSET)] = 0
    exporter: Exporter = ""
    sequential: bool = False
    inside: list[str] = []
    shared: list[list[str]] = []
    named: bool = False
    explicit: bool = False
    opened: dict[str, list[Axis]] = {}
    before: Annotated[list[dict[str, list[Length]]], Meta(max_length=MOST_BEFORE)] = []


class _CaseText(msgspec.Struct, forbid_unknown_fields=True):
    version: int
    graph: _GraphText
    rng_seed: int
    data: dict[str, _TensorText] = {}
    breaks: str = ""
    manner: _MannerText = msgspec.field(default_factory=_MannerText)


class _VersionOnly(msgspec.Struct):
    version: int


class Parsed(NamedTuple):
    """A case whose structure is sound but whose layers nobody has looked at."""

    drafts: tuple[Draft, ...]
    outputs: tuple[Edge, ...]
    rng_seed: int
    data: Mapping[str, Tensor]
    breaks: str
    manner: Manner


_case_decoder = msgspec.json.Decoder(_CaseText)
_version_decoder = msgspec.json.Decoder(_VersionOnly)


def parse(text: bytes) -> Parsed:
    """Read a case file; raise one InvalidCase that names the place where it is wrong."""
    if len(text) > MAX_BYTES:
        raise InvalidCase(f"expected a case file of at most {MAX_BYTES} bytes; received bytes={len(text)}")
    try:
        version = _version_decoder.decode(text).version
        if version != VERSION:
            raise InvalidCase(f"$.version: expected {VERSION}; received version={version}")
        case = _case_decoder.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidCase(f"not a case file: {error}") from None
    except RecursionError:
        raise InvalidCase("not a case file: values are nested too deeply") from None
    if not 0 <= case.rng_seed < 2**64:
        raise InvalidCase(f"$.rng_seed: expected 0 to 2**64 - 1; received rng_seed={case.rng_seed}")
    drafts = _drafts(case.graph.nodes)
    known = {draft.id for draft in drafts}
    for place, (node, _) in enumerate(case.graph.outputs):
        if node not in known:
            raise InvalidCase(f"$.graph.outputs[{place}]: expected the id of a node; received id={node!r}")
    if not case.graph.outputs:
        raise InvalidCase("$.graph.outputs: expected at least one output; received none")
    outputs = tuple(Edge(*edge) for edge in case.graph.outputs)
    data = {key: _tensor(key, value) for key, value in case.data.items()}
    manner = manner_from_plain(msgspec.to_builtins(case.manner))
    return Parsed(drafts, outputs, case.rng_seed, data, case.breaks, manner)


def _drafts(nodes: Sequence[_NodeText]) -> tuple[Draft, ...]:
    if not 0 < len(nodes) <= MAX_NODES:
        raise InvalidCase(f"$.graph.nodes: expected 1 to {MAX_NODES} nodes; received nodes={len(nodes)}")
    places: dict[str, int] = {}
    for place, node in enumerate(nodes):
        if not _ID.fullmatch(node.id):
            raise InvalidCase(f"$.graph.nodes[{place}].id: expected a name like conv_1; received id={node.id!r}")
        if node.id in places:
            raise InvalidCase(f"$.graph.nodes[{place}].id: expected a new id; received id={node.id!r} twice")
        places[node.id] = place
    drafts = []
    for place, node in enumerate(nodes):
        for slot, (source, output) in enumerate(node.inputs):
            if source not in places:
                raise InvalidCase(
                    f"$.graph.nodes[{place}].inputs[{slot}]: expected the id of a node; received id={source!r}"
                )
            if output < 0:
                raise InvalidCase(
                    f"$.graph.nodes[{place}].inputs[{slot}]: expected an output index from 0; received {output}"
                )
        where = f"$.graph.nodes[{place}].params"
        params = {name: _value(value, f"{where}.{name}") for name, value in node.params.items()}
        drafts.append(Draft(node.id, node.layer, params, tuple(Edge(*edge) for edge in node.inputs)))
    return in_topological_order(drafts)


def _value(value: Any, place: str, depth: int = 0) -> Any:
    """A parameter value as the IR holds it: lists become tuples, a layer in a layer becomes Inner."""
    if depth > 4:
        raise InvalidCase(f"{place}: expected at most 4 levels of nesting; received more")
    if isinstance(value, list):
        return tuple(_value(item, place, depth + 1) for item in value)
    if isinstance(value, dict):
        if not (set(value) <= {"layer", "params"} and isinstance(value.get("layer"), str)):
            raise InvalidCase(f"{place}: expected {{layer, params}}; received keys={sorted(value)}")
        params = value.get("params", {})
        if not isinstance(params, dict):
            raise InvalidCase(f"{place}.params: expected an object; received {type(params).__name__}")
        inner = {name: _value(item, f"{place}.params.{name}", depth + 1) for name, item in params.items()}
        return Inner(value["layer"], Params(inner))
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidCase(f"{place}: expected a finite number; received {value}")
    return value


AnyNode = TypeVar("AnyNode", Draft, Node)


def in_topological_order(drafts: Sequence[AnyNode]) -> tuple[AnyNode, ...]:
    """The drafts, each after all it reads from and otherwise in the given order."""
    place = {draft.id: index for index, draft in enumerate(drafts)}
    missing = [len({edge.node for edge in draft.inputs}) for draft in drafts]
    readers: list[list[int]] = [[] for _ in drafts]
    for index, draft in enumerate(drafts):
        for source in {edge.node for edge in draft.inputs}:
            readers[place[source]].append(index)
    ready = [index for index, count in enumerate(missing) if count == 0]
    ordered: list[AnyNode] = []
    while ready:
        index = heapq.heappop(ready)
        ordered.append(drafts[index])
        for reader in readers[index]:
            missing[reader] -= 1
            if missing[reader] == 0:
                heapq.heappush(ready, reader)
    if len(ordered) < len(drafts):
        stuck = [draft for index, draft in enumerate(drafts) if missing[index] > 0]
        raise InvalidCase(f"$.graph.nodes: expected no cycle; received one through id={_in_cycle(stuck)!r}")
    return tuple(ordered)


def _in_cycle(stuck: Sequence[Draft] | Sequence[Node]) -> str:
    """A node that really lies on a cycle, found by walking back through nodes that cannot be placed."""
    by_id = {draft.id: draft for draft in stuck}
    seen: set[str] = set()
    at = stuck[0].id
    while at not in seen:
        seen.add(at)
        at = next(edge.node for edge in by_id[at].inputs if edge.node in by_id)
    return at


def _tensor(key: str, text: _TensorText) -> Tensor:
    place = f"$.data[{key!r}]"
    if text.dtype not in DTYPES:
        raise InvalidCase(f"{place}.dtype: expected one of {', '.join(DTYPES)}; received dtype={text.dtype!r}")
    if any(not 0 <= size <= MAX_DIMENSION for size in text.shape):
        raise InvalidCase(f"{place}.shape: expected sizes from 0 to {MAX_DIMENSION}; received shape={text.shape}")
    try:
        return Tensor(text.dtype, tuple(text.shape), base64.b64decode(text.bytes, validate=True))
    except binascii.Error as error:
        raise InvalidCase(f"{place}.bytes: expected base64; received {error}") from None
    except InvalidCase as error:
        raise InvalidCase(f"{place}: {error}") from None


def encode(case: Case) -> bytes:
    """The canonical text: sorted keys, no white space, every parameter named.

    `breaks` and `manner` stand there only if they say something. Made once for id, file and report.
    """
    return _recent(case)


def _encode(case: Case) -> bytes:
    manner = manner_to_plain(case.manner)
    plain = {
        "version": VERSION,
        "graph": graph_to_plain(case.graph),
        "rng_seed": case.rng_seed,
        "data": {
            key: {
                "dtype": tensor.dtype,
                "shape": list(tensor.shape),
                "bytes": base64.b64encode(tensor.data).decode("ascii"),
            }
            for key, tensor in case.data.items()
        },
        **({"breaks": case.breaks} if case.breaks else {}),
        **({"manner": manner} if manner else {}),
    }
    return msgspec.json.encode(plain, order="sorted")


_recent = Recent(_encode, len)


def case_id(case: Case) -> str:
    """The name of a case everywhere: 16 hexadecimal digits of the hash of its canonical text."""
    return _recent_id(case)


_recent_id: Recent[Case, str] = Recent(lambda case: text_id(encode(case)), len)


def text_id(text: bytes) -> str:
    """The id of the case whose canonical text this is."""
    return hashlib.sha256(text).hexdigest()[:16]
