"""Branch coverage of the libraries' Python code: which modules are observed, and what has been reached in them.

An observer in the worker (`execution/observer.py`) reports what is new since its last report; `Branches` adds the
reports up. A report, what is handed to a worker that starts, and what is stored have one form, in plain JSON:

    {module: {"digest": of its source, "all": [branches, lines], "branches": [[from, to], ...], "lines": [...]}}

A branch is (line it leaves, line it goes to), 0 or minus a line being the end of the function. Line numbers belong to
one source: when its digest changes, what was reached in it counts no more.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from cometfuzz.errors import InvalidCoverage

MODULES: tuple[str, ...] = (
    "keras.src.activations.*",
    "keras.src.backend.common.*",
    "keras.src.backend.config",
    "keras.src.backend.tensorflow.core",
    "keras.src.backend.tensorflow.image",
    "keras.src.backend.tensorflow.layer",
    "keras.src.backend.tensorflow.linalg",
    "keras.src.backend.tensorflow.math",
    "keras.src.backend.tensorflow.nn",
    "keras.src.backend.tensorflow.numpy",
    "keras.src.backend.tensorflow.random",
    "keras.src.backend.tensorflow.rnn",
    "keras.src.backend.tensorflow.sparse",
    "keras.src.constraints.*",
    "keras.src.dtype_policies.*",
    "keras.src.initializers.*",
    "keras.src.layers.*",
    "keras.src.models.*",
    "keras.src.ops.*",
    "keras.src.random.*",
    "keras.src.regularizers.*",
    "keras.src.tree.*",
    "keras.src.utils.argument_validation",
    "keras.src.utils.naming",
    "keras.src.utils.tracking",
    "tensorflow.python.eager.execute",
    "tensorflow.python.framework.constant_op",
    "tensorflow.python.framework.func_graph",
    "tensorflow.python.framework.ops",
    "tensorflow.python.framework.tensor",
    "tensorflow.python.framework.tensor_conversion_registry",
    "tensorflow.python.framework.tensor_shape",
    "tensorflow.python.framework.tensor_util",
    "tensorflow.python.ops.array_ops",
    "tensorflow.python.ops.array_ops_stack",
    "tensorflow.python.ops.clip_ops",
    "tensorflow.python.ops.cond",
    "tensorflow.python.ops.image_ops_impl",
    "tensorflow.python.ops.linalg_ops",
    "tensorflow.python.ops.math_ops",
    "tensorflow.python.ops.nn_impl",
    "tensorflow.python.ops.nn_ops",
    "tensorflow.python.ops.resource_variable_ops",
    "tensorflow.python.ops.special_math_ops",
    "tensorflow.python.ops.stateless_random_ops",
    "tensorflow.python.ops.tensor_array_ops",
    "tensorflow.python.ops.variables",
    "tensorflow.python.ops.while_loop",
    "tensorflow.python.ops.while_v2",
)
"""What makes and executes models, as the paper measures (RQ1); `.*` takes a package with all below it, but no tests.

Training, saving, data sets, what TensorFlow generates (gen_*_ops), and what depends on the age of the process rather
than on the model (eager.context) are no part of it.
"""

PAPER_MODULES: tuple[str, ...] = (
    "keras.activations",
    "keras.backend",
    "keras.constraints",
    "keras.engine.base_layer",
    "keras.engine.base_layer_utils",
    "keras.engine.input_spec",
    "keras.initializers.initializers_v2",
    "keras.layers.advanced_activations",
    "keras.layers.convolutional",
    "keras.layers.convolutional_recurrent",
    "keras.layers.core.activation",
    "keras.layers.core.activity_regularization",
    "keras.layers.core.dense",
    "keras.layers.core.dropout",
    "keras.layers.core.flatten",
    "keras.layers.core.lambda_layer",
    "keras.layers.core.permute",
    "keras.layers.core.repeat_vector",
    "keras.layers.core.reshape",
    "keras.layers.core.spatial_dropout",
    "keras.layers.merge",
    "keras.layers.noise",
    "keras.layers.normalization.batch_normalization",
    "keras.layers.pooling",
    "keras.layers.recurrent",
    "keras.layers.recurrent_v2",
    "keras.layers.wrappers",
    "keras.regularizers",
    "keras.saving.hdf5_format",
    "keras.utils.conv_utils",
    "keras.utils.generic_utils",
    "tensorflow.python.framework.ops",
    "tensorflow.python.ops.array_ops",
    "tensorflow.python.ops.clip_ops",
    "tensorflow.python.ops.control_flow_ops",
    "tensorflow.python.ops.control_flow_util",
    "tensorflow.python.ops.control_flow_util_v2",
    "tensorflow.python.ops.gen_array_ops",
    "tensorflow.python.ops.gen_functional_ops",
    "tensorflow.python.ops.gen_image_ops",
    "tensorflow.python.ops.gen_linalg_ops",
    "tensorflow.python.ops.gen_list_ops",
    "tensorflow.python.ops.gen_math_ops",
    "tensorflow.python.ops.gen_nn_ops",
    "tensorflow.python.ops.gen_random_ops",
    "tensorflow.python.ops.gradients_util",
    "tensorflow.python.ops.image_ops_impl",
    "tensorflow.python.ops.linalg_ops",
    "tensorflow.python.ops.linalg_ops_impl",
    "tensorflow.python.ops.list_ops",
    "tensorflow.python.ops.math_ops",
    "tensorflow.python.ops.nn_impl",
    "tensorflow.python.ops.nn_ops",
    "tensorflow.python.ops.random_ops",
    "tensorflow.python.ops.tensor_array_ops",
    "tensorflow.python.ops.while_v2",
)
"""The 56 files of Python in which the paper counts branches and lines, in Keras and TensorFlow 2.8; its 65 files of C++
take a build of TensorFlow for the purpose."""

Branch = tuple[int, int]
Item = TypeVar("Item")


class Share(NamedTuple):
    """How much of something is reached."""

    covered: int
    total: int

    @property
    def percent(self) -> float:
        return 100.0 * self.covered / self.total if self.total else 100.0


@dataclass(frozen=True)
class ModuleCoverage:
    """What has been reached in one module's source, and how much there is."""

    digest: str
    all_branches: int
    all_lines: int
    branches: frozenset[Branch] = frozenset()
    lines: frozenset[int] = frozenset()

    @property
    def branch_share(self) -> Share:
        return Share(len(self.branches), self.all_branches)

    @property
    def line_share(self) -> Share:
        return Share(len(self.lines), self.all_lines)

    @staticmethod
    def from_plain(plain: Mapping[str, Any]) -> "ModuleCoverage":
        branches, lines = plain["all"]
        reached = frozenset((int(left), int(to)) for left, to in plain["branches"])
        return ModuleCoverage(
            str(plain["digest"]), int(branches), int(lines), reached, frozenset(map(int, plain["lines"]))
        )

    def to_plain(self) -> dict[str, Any]:
        return {
            "digest": self.digest,
            "all": [self.all_branches, self.all_lines],
            "branches": [list(branch) for branch in sorted(self.branches)],
            "lines": sorted(self.lines),
        }


@dataclass(frozen=True)
class News:
    """What was reached for the first time, by module; modules without anything new are left out."""

    branches: Mapping[str, frozenset[Branch]] = field(default_factory=dict)
    lines: Mapping[str, frozenset[int]] = field(default_factory=dict)

    @property
    def branch_count(self) -> int:
        return sum(map(len, self.branches.values()))

    @property
    def line_count(self) -> int:
        return sum(map(len, self.lines.values()))

    def __bool__(self) -> bool:
        return bool(self.branches or self.lines)

    def __or__(self, other: "News") -> "News":
        return News(_union(self.branches, other.branches), _union(self.lines, other.lines))


class Branches:
    """The branches and lines reached so far; `merge` adds a report. One writer at a time; any thread may read."""

    def __init__(self, patterns: Sequence[str] = MODULES) -> None:
        self.patterns = tuple(patterns)
        self._modules: dict[str, ModuleCoverage] = {}

    @property
    def modules(self) -> dict[str, ModuleCoverage]:
        """Every observed module that the library has, by name, those with nothing reached included."""
        return dict(sorted(self._modules.items()))

    @property
    def branch_share(self) -> Share:
        return _sum(module.branch_share for module in self._modules.values())

    @property
    def line_share(self) -> Share:
        return _sum(module.line_share for module in self._modules.values())

    def merge(self, report: Mapping[str, Any]) -> News:
        """Add a report; returns what of it is new."""
        branches, lines = {}, {}
        for name, plain in report.items():
            told = ModuleCoverage.from_plain(plain)
            known = self._modules.get(name)
            if known is None or known.digest != told.digest:
                known = ModuleCoverage(told.digest, told.all_branches, told.all_lines)
            if new_branches := told.branches - known.branches:
                branches[name] = new_branches
            if new_lines := told.lines - known.lines:
                lines[name] = new_lines
            reached = known.branches | new_branches, known.lines | new_lines
            self._modules[name] = ModuleCoverage(known.digest, known.all_branches, known.all_lines, *reached)
        return News(branches, lines)

    def to_plain(self) -> dict[str, Any]:
        """Everything, as one report."""
        return {name: module.to_plain() for name, module in self.modules.items()}

    @staticmethod
    def from_plain(plain: Any, patterns: Sequence[str] = MODULES) -> "Branches":
        """What `to_plain` gave; InvalidCoverage if it is something else."""
        made = Branches(patterns)
        try:
            made.merge(plain)
        except (ArithmeticError, AttributeError, KeyError, TypeError, ValueError) as error:
            raise InvalidCoverage(f"expected branch coverage; received {type(error).__name__}: {error}") from None
        return made


def _sum(shares: Iterable[Share]) -> Share:
    covered = total = 0
    for share in shares:
        covered, total = covered + share.covered, total + share.total
    return Share(covered, total)


def _union(one: Mapping[str, frozenset[Item]], other: Mapping[str, frozenset[Item]]) -> dict[str, frozenset[Item]]:
    return {name: one.get(name, frozenset()) | other.get(name, frozenset()) for name in {**one, **other}}
