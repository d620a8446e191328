"""Configuration: a TOML file into a frozen Config, or one clear error.

jobs = 2
known = ["bugs", "mine.toml"]  # collections and files of known issues; else the collection bugs/, if it is here

[routes.keras-tf-old]          # two versions of one library are two routes
base = "keras-tf"
environment = "tf215"
speaks = "keras2"

[limits]
stage_s = 30

[policy]
base = ["keras-tf", "keras-torch"]

[graphs]                       # how large a generated model may get
nodes = 40
"""

from pathlib import Path

import msgspec

from cometfuzz.errors import InvalidConfig

DEFAULT = Path("cometfuzz.toml")


class RouteConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A route like another one, in another environment.

    `steps` names those that move there; by default all do. `speaks`: the dialect of the builder there, if it differs.
    """

    base: str
    environment: str
    steps: tuple[str, ...] = ()
    speaks: str | None = None


class LimitConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a worker may take; see `execution.supervisor.Limits`."""

    stage_s: float = 60.0
    case_s: float = 600.0
    start_s: float = 180.0
    memory_bytes: int = 6 * 2**30
    output_bytes: int = 256 * 2**20
    recycle_after: int = 400


class PolicyConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which routes a case runs on; see `execution.policy`."""

    base: tuple[str, ...] = ("keras-tf", "keras-torch")
    converters: tuple[str, ...] = (
        *("keras-jax", "tf-graph", "keras-saved", "tf-saved", "onnxruntime", "onnxruntime-noopt", "onnx-reference"),
        *("onnx2torch", "onnx2pytorch", "openvino", "litert", "torch-onnx"),
    )
    clear: tuple[str, ...] = ("onnxruntime", "torch-onnx", "litert")
    sampled: tuple[str, ...] = ("tf-xla", "keras-mxnet")
    only: tuple[str, ...] = ("keras2-tf",)
    one_in: int = 4
    sampled_one_in: int = 20
    largest_cut: int = 12


class GraphConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How large a generated graph may get; see `mutation.base.Limits`."""

    nodes: int = 40
    elements: int = 4096
    flops: int = 5 * 10**7
    bytes: int = 64 * 2**20


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that a file may set."""

    jobs: int = 1
    known: tuple[str, ...] | None = None
    routes: dict[str, RouteConfig] = {}
    limits: LimitConfig = LimitConfig()
    policy: PolicyConfig = PolicyConfig()
    graphs: GraphConfig = GraphConfig()


def load(path: Path | None) -> Config:
    """The configuration in a file; without one, `cometfuzz.toml` in the working folder, else the defaults."""
    if path is None and not DEFAULT.is_file():
        return Config()
    place = path or DEFAULT
    try:
        return msgspec.toml.decode(place.read_bytes(), type=Config)
    except OSError as error:
        raise InvalidConfig(f"{place}: {error.strerror}") from None
    except msgspec.DecodeError as error:
        raise InvalidConfig(f"{place}: {error}") from None
