"""What head and nodes send each other: bytes, which are read like a file.

MessagePack, since it has NaN and raw bytes; everything that is read is checked against its type. A case travels as the
text of its file, so that what runs on a node is what the store keeps. Nobody sends tensors: a node draws and judges.
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

import cometfuzz
from cometfuzz.campaign.judging import Judged
from cometfuzz.config import Config
from cometfuzz.errors import CometfuzzError
from cometfuzz.execution.machine import Machine
from cometfuzz.oracles.determinism import Fingerprint
from cometfuzz.oracles.finding import Finding

MAX_BYTES = 256 * 2**20
"""Of one message: two cases of the largest size and what is said of them fit."""

Read = TypeVar("Read")
Made = TypeVar("Made")


class InvalidMessage(CometfuzzError):
    """Bytes of another machine that are not what they should be."""


class _Form(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What all messages have in common: a field that nobody knows is an error."""


class Setup(_Form, frozen=True):
    """What a node needs to know once: which routes there are, and what their workers may take."""

    config: Config
    routes: tuple[str, ...]
    idle_s: float
    version: str = cometfuzz.__version__


class Judge(_Form, frozen=True, tag=True):
    """Run a part of a case and judge it. With `first`, another node of the same kind has done so: only compare."""

    case: bytes
    routes: tuple[str, ...]
    twice: tuple[str, ...] = ()
    memory: bool = False
    leading: bool = False
    base: tuple[str, ...] = ()
    first: str = ""
    fingerprints: Mapping[str, Fingerprint] = {}


class Look(_Form, frozen=True, tag=True):
    """Make a bug of a finding: confirm, reduce, blame, and run its script."""

    case: bytes
    finding: Finding
    routes: tuple[str, ...]


class Reduce(_Form, frozen=True, tag=True):
    """Say what a case shows on one of some routes, and reduce it: `triage.sought`."""

    case: bytes
    routes: tuple[str, ...]
    route: str
    symptom: str
    steps: int
    wall_s: float


class Describe(_Form, frozen=True, tag=True):
    """Say what there is; if asked, try every route on a tiny model."""

    tried: bool = False


Question = Judge | Look | Reduce | Describe


class Verdict(_Form, frozen=True, tag=True):
    """What became of a part, with the CPU time that it took and what the executor has to say."""

    judged: Judged
    own_cpu_s: float
    library_cpu_s: float
    notices: tuple[str, ...] = ()


class Compared(_Form, frozen=True, tag=True):
    """What a second node has found."""

    findings: tuple[Finding, ...]


class Looked(_Form, frozen=True, tag=True):
    """The bug of a finding or of a case, in the form in which the store keeps it; none if nothing came of it: of a case
    what it shows instead."""

    bug: dict[str, Any] | None
    shown: tuple[str, ...] = ()


class Tried(_Form, frozen=True):
    """Whether a route works on a node, else why not and what would mend it there."""

    route: str
    available: bool
    reason: str | None
    fix: str | None
    versions: dict[str, str]


class Node(_Form, frozen=True, tag=True):
    """What a node says of itself.

    lacks: why routes of the campaign cannot run there. ledger: the digest of what its machine has learned of the
    ledger. tried: how its routes do, if that was asked.
    """

    host: str
    version: str
    python: str
    machine: Machine
    versions: dict[str, dict[str, str]]
    ledger: str
    lacks: tuple[str, ...] = ()
    tried: tuple[Tried, ...] = ()

    @property
    def kind(self) -> tuple[object, ...]:
        """Nodes of one kind must give the same bits: the same versions on the same CPU."""
        versions = sorted((route, tuple(sorted(found.items()))) for route, found in self.versions.items())
        return self.version, str(self.machine), tuple(versions)


class Refused(_Form, frozen=True, tag=True):
    """Why a node cannot do it, though another one may."""

    reason: str


Answer = Verdict | Compared | Looked | Node | Refused


def pack(message: Setup | Question | Answer) -> bytes:
    """The bytes of a message. What a library says may be half a surrogate pair, which has no UTF-8."""
    try:
        return msgspec.msgpack.encode(message)
    except UnicodeEncodeError:
        return msgspec.msgpack.encode(_spoken(msgspec.to_builtins(message, builtin_types=(bytes,))))


def _spoken(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, Mapping):
        return {_spoken(key): _spoken(each) for key, each in value.items()}
    return [_spoken(each) for each in value] if isinstance(value, list | tuple) else value


def unpack(content: bytes, kind: Any, sender: str) -> Any:
    """A message of the kind that is expected; InvalidMessage if it is none."""
    if not isinstance(content, bytes) or len(content) > MAX_BYTES:
        raise InvalidMessage(f"{sender}: expected a message of at most {MAX_BYTES} bytes; received something else")
    try:
        return msgspec.msgpack.decode(content, type=kind)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise InvalidMessage(f"{sender}: expected a message; received {error!s:.200}") from None
