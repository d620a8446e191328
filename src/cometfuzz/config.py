"""Configuration: a TOML file into a frozen Config, or one clear error.

jobs = 2                       # workers of each kind; else as many as there are cores
known = ["bugs", "mine.toml"]  # collections and files of known issues; else the collection bugs/, if it is here

[routes.keras-tf-old]          # two versions of one library are two routes
base = "keras-tf"
environment = "tf215"
speaks = "keras2"

[environments.mine]            # an interpreter of your own: Python 3.9 or newer, with numpy
python = "~/nightly/bin/python"
environ = { CUDA_VISIBLE_DEVICES = "0" }

[limits]
stage_s = 30

[policy]
base = ["keras-tf", "keras-torch"]

[graphs]                       # how large a generated model may get
nodes = 40

[cluster]                      # a Dask cluster that runs the cases; see docs/cluster.md
address = "tls://head.example.org:8786"
ca = "certificates/ca.pem"
cert = "certificates/cometfuzz.pem"
key = "certificates/cometfuzz-key.pem"
"""

import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from cometfuzz.errors import InvalidConfig
from cometfuzz.reading import read_regular
from cometfuzz.routes.registry import ROUTES, with_turn

DEFAULT = Path("cometfuzz.toml")
MAX_BYTES = 2**20
"""How large a TOML file may be."""

MOST_JOBS = 256
JOB_BYTES = 4 * 2**30
"""What a worker of each kind take together, when they are young."""

MOST_SECONDS = 86_400.0

Read = TypeVar("Read")
Jobs = Annotated[int, Meta(ge=1, le=MOST_JOBS)]
Seconds = Annotated[float, Meta(gt=0, le=MOST_SECONDS)]
Bytes = Annotated[int, Meta(ge=2**16, le=2**50)]
Memory = Annotated[int, Meta(ge=2**26, le=2**50)]
Count = Annotated[int, Meta(ge=1, le=10**6)]
Share = Annotated[float, Meta(ge=0, le=1)]


def usual_jobs() -> int:
    """As many as there are cores that this process may use, if the memory is enough for their workers."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return max(1, min(len(os.sched_getaffinity(0)), memory // JOB_BYTES, MOST_JOBS))


def _expect_different(name: str, values: tuple[str, ...]) -> None:
    for index, value in enumerate(values):
        if value in values[:index]:
            raise ValueError(f"expected each name once; received {name}={value!r} again")


class RouteConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A route like another one, in another environment.

    `steps` names those that move there; by default all do. `speaks`: the dialect of the builder there, if it differs.
    """

    base: str
    environment: str
    steps: tuple[str, ...] = ()
    speaks: Literal["keras3", "keras2"] | None = None

    def __post_init__(self) -> None:
        _expect_different("steps", self.steps)


class EnvironmentConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An interpreter of the user's own as an environment; `environ`: variables for what runs in it."""

    python: Annotated[str, Meta(min_length=1)]
    environ: dict[str, str] = {}


class LimitConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a worker may take; see `execution.supervisor.WorkerLimits`."""

    stage_s: Seconds = 60.0
    case_s: Seconds = 600.0
    start_s: Seconds = 180.0
    memory_bytes: Memory = 6 * 2**30
    output_bytes: Bytes = 256 * 2**20
    recycle_after: Count = 400


class PolicyConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which routes a case runs on; see `execution.policy`. A list that is not given has the routes that say so.

    dear: what all but the base routes get of the CPU time together, in equal parts of at most `most`; shares: another
    part for some of them.
    """

    base: tuple[str, ...] = with_turn("base")
    converters: tuple[str, ...] = with_turn("converters")
    clear: tuple[str, ...] = tuple(route.name for route in ROUTES.values() if route.clear)
    sampled: tuple[str, ...] = with_turn("sampled")
    only: tuple[str, ...] = with_turn("only")
    dear: Share = 0.7
    most: Share = 0.2
    shares: dict[str, Share] = {}
    switched_one_in: Count = 10
    options_one_in: Count = 4
    manner_one_in: Count = 8
    largest_cut: Count = 12

    def __post_init__(self) -> None:
        for name, routes in self.names.items():
            _expect_different(name, routes)

    @property
    def names(self) -> dict[str, tuple[str, ...]]:
        """The lists of routes."""
        return {name: getattr(self, name) for name in ("base", "converters", "clear", "sampled", "only")}


class GraphConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How large a generated graph may get; see `mutation.base.ModelLimits`."""

    nodes: Annotated[int, Meta(ge=5, le=10**5)] = 40
    elements: Annotated[int, Meta(ge=16, le=2**31)] = 4096
    flops: Annotated[int, Meta(ge=10**4, le=10**15)] = 5 * 10**7
    bytes: Annotated[int, Meta(ge=2**12, le=2**40)] = 64 * 2**20


class ClusterConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A Dask cluster: the address of its scheduler or the scheduler's file, and our certificate for it.

    wait_s: how long a campaign waits for a node when there is none. patience_s: after that long a case is given to a
    second node as well. idle_s: after that long without a question a node ends its children.
    """

    address: str = ""
    ca: str = ""
    cert: str = ""
    key: str = ""
    wait_s: Seconds = 120.0
    patience_s: Seconds = 120.0
    idle_s: Seconds = 60.0


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that a file may set."""

    jobs: Jobs = msgspec.field(default_factory=usual_jobs)
    known: tuple[str, ...] | None = None
    routes: dict[str, RouteConfig] = {}
    environments: dict[str, EnvironmentConfig] = {}
    limits: LimitConfig = LimitConfig()
    policy: PolicyConfig = PolicyConfig()
    graphs: GraphConfig = GraphConfig()
    cluster: ClusterConfig = ClusterConfig()


def load(path: Path | None) -> Config:
    """The configuration in a file; without one, `cometfuzz.toml` in the working folder, else the defaults."""
    if path is None and not os.path.lexists(DEFAULT):
        return Config()
    place = path or DEFAULT
    return decode(read_regular(place, MAX_BYTES, InvalidConfig), str(place), Config)


def decode(content: bytes, place: str, kind: type[Read]) -> Read:
    """A TOML text as a struct, or one line that names the place and the value."""
    try:
        plain = msgspec.toml.decode(content)
    except UnicodeDecodeError as error:
        raise InvalidConfig(f"{place}: expected TOML in UTF-8; received byte={content[error.start]:#04x}") from None
    except RecursionError:
        raise InvalidConfig(f"{place}: expected TOML; received values that are nested too deeply") from None
    except (msgspec.DecodeError, ValueError) as error:
        raise InvalidConfig(f"{place}: expected TOML; received {error}") from None
    try:
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        raise InvalidConfig(f"{place}: {_explained(str(error), plain)}") from None


def _explained(message: str, plain: Any) -> str:
    """What is wrong in our words: "expected int >= 1; received jobs=0"."""
    what, _, path = message.replace("`", "").partition(" - at $")
    path = path.removeprefix(".")
    if unknown := re.fullmatch(r"Object contains unknown field (.*)", what):
        name = ".".join(filter(None, (path, unknown[1])))
        return f"expected no unknown field; received {name}"
    if missing := re.fullmatch(r"Object missing required field (.*)", what):
        return f"expected {missing[1]} in {path}; received none"
    if "received" in what:  # one of our own checks
        return f"{path}: {what}"
    what = re.sub(r"^Expected |, got .*$", "", what).replace("Invalid enum value", "another value than")
    return f"expected {what}; received {path}{_value(plain, path)}"


def _value(plain: Any, path: str) -> str:
    """What stands at a path; nothing if it goes through a table whose names the path does not say."""
    for step in re.findall(r"[^.\[\]]+", path):
        if isinstance(plain, list) and step.isdigit():
            plain = plain[int(step)]
        elif isinstance(plain, dict) and step in plain:
            plain = plain[step]
        else:
            return ""
    return f"={plain!r:.80}"
