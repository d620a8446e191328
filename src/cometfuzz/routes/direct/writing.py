"""How nodes are written: a model under way as plain data, and the registry of writers.

A writer says one layer or operator in a few ONNX operators. It needs neither onnx nor the values of weights, so that
the parent can ask what can be written (`asking.py`) by writing it; `encoding.py` makes the file, in the child.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, Union

import numpy as np

from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import TensorType
from cometfuzz.routes.direct.schemas import TAKES

LETTERS = {
    "float16": "e",
    "float32": "f",
    "float64": "d",
    "bfloat16": "b",
    "int32": "i",
    "int64": "l",
    "bool": "?",
}
TRUTHS = ("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "IsInf", "IsNaN")
"""Operators whose result is true or false, whatever they take."""

Axes = Sequence[int]


class Unsaid(Exception):
    """What a graph asks for has no words in ONNX, or none at this opset, or nobody has written them."""


@dataclass(frozen=True)
class Operation:
    """One operator of the file. node: the id of the graph's node that it is a part of."""

    kind: str
    node: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]


@dataclass(frozen=True)
class Constant:
    """A tensor of the file."""

    dtype: str
    values: Any


@cache
def _taken(kind: str, opset: int) -> tuple[str, ...]:
    """The letters of the dtypes that each input of an operator may have; none if the opset has no such operator."""
    found = [takes for since, takes in TAKES[kind] if since <= opset]
    return tuple(found[-1].split(",")) if found else ()


@dataclass
class Writing:
    """A model under way at an opset: its operations, its constants, and the dtype of every name so far."""

    opset: int
    operations: list[Operation] = field(default_factory=list)
    constants: dict[str, Constant] = field(default_factory=dict)
    dtypes: dict[str, str] = field(default_factory=dict)
    node: str = ""
    _known: dict[Any, str] = field(default_factory=dict)

    def has(self, kind: str, dtype: str = "") -> bool:
        """Whether the opset has an operator, for a dtype of its first input."""
        taken = _taken(kind, self.opset)
        return bool(taken) and LETTERS.get(dtype, "") in taken[0]

    def op(self, kind: str, *inputs: str, dtype: str = "", **attributes: Any) -> str:
        """Add an operator with one output, and give its name. dtype: of the output, if not that of the first input."""
        return self.ops(kind, *inputs, count=1, dtype=dtype, **attributes)[0]

    def ops(self, kind: str, *inputs: str, count: int, dtype: str = "", **attributes: Any) -> list[str]:
        """The same with several outputs. An empty name among the inputs is an input that is left out."""
        self._expect_taken(kind, inputs)
        made = "bool" if kind in TRUTHS else dtype or self.dtypes[inputs[0]]
        outputs = []
        for _ in range(count):
            name = f"t{len(self.dtypes)}"
            self.dtypes[name] = made
            outputs.append(name)
        self.operations.append(Operation(kind, self.node, inputs, tuple(outputs), attributes))
        return outputs

    def _expect_taken(self, kind: str, inputs: Sequence[str]) -> None:
        allowed = _taken(kind, self.opset)
        if not allowed:
            raise Unsaid(f"there is no {kind} at opset {self.opset}")
        for place, name in enumerate(inputs):
            letters = allowed[min(place, len(allowed) - 1)]
            if name and LETTERS[self.dtypes[name]] not in letters:
                raise Unsaid(f"{kind} takes no {self.dtypes[name]} at opset {self.opset}")

    def constant(self, values: Any, dtype: str) -> str:
        """The name of a tensor of the file; small ones that are equal are one."""
        array = np.asarray(values)
        key = (dtype, array.shape, array.tolist().__repr__()) if array.size <= 16 else None
        if key is not None and key in self._known:
            return self._known[key]
        name = f"c{len(self.constants)}"
        self.constants[name], self.dtypes[name] = Constant(dtype, array), dtype
        if key is not None:
            self._known[key] = name
        return name

    def ints(self, values: Sequence[int]) -> str:
        """Sizes, axes or places as a tensor."""
        return self.constant(np.asarray(values, dtype=np.int64), "int64")

    # -- what has another form from opset to opset, or is asked for everywhere ----------------------------------------

    def number(self, value: float, like: str) -> str:
        """A number of the dtype of a tensor."""
        return self.constant(value, self.dtypes[like])

    def cast(self, x: str, dtype: str) -> str:
        return x if self.dtypes[x] == dtype else self.op("Cast", x, dtype=dtype, to=dtype)

    def reshape(self, x: str, shape: Axes) -> str:
        if 0 not in shape:
            return self.op("Reshape", x, self.ints(shape))
        if self.opset < 14:
            raise Unsaid("Reshape has no size 0 before opset 14")
        return self.op("Reshape", x, self.ints(shape), allowzero=1)

    def transpose(self, x: str, order: Axes) -> str:
        return x if list(order) == list(range(len(order))) else self.op("Transpose", x, perm=list(order))

    def squeeze(self, x: str, axes: Axes) -> str:
        return self.op("Squeeze", x, self.ints(axes)) if axes else x

    def unsqueeze(self, x: str, axes: Axes) -> str:
        return self.op("Unsqueeze", x, self.ints(axes)) if axes else x

    def reduce(self, kind: str, x: str, axes: Axes, keepdims: bool = False) -> str:
        """A reduction; its axes are an attribute before opset 18, and before 13 of a sum."""
        kept: dict[str, Any] = {"keepdims": int(keepdims)}
        if self.opset >= 18 or kind == "ReduceSum":
            return self.op(kind, x, self.ints(axes), **kept)
        return self.op(kind, x, axes=list(axes), **kept)

    def slice(self, x: str, starts: Axes, ends: Axes, axes: Axes, steps: Axes = ()) -> str:
        places = [self.ints(starts), self.ints(ends), self.ints(axes)]
        return self.op("Slice", x, *places, *([self.ints(steps)] if steps else []))

    def flip(self, x: str, axis: int) -> str:
        return self.slice(x, [-1], [-(2**31) + 1], [axis], [-1])

    def split(self, x: str, sizes: Axes, axis: int) -> list[str]:
        return self.ops("Split", x, self.ints(sizes), count=len(sizes), axis=axis)

    def where(self, condition: str, x: str, y: str) -> str:
        return self.op("Where", condition, x, y, dtype=self.dtypes[x])

    def pad(self, x: str, pairs: Sequence[Sequence[int]], value: float = 0.0) -> str:
        widths = [pair[0] for pair in pairs] + [pair[1] for pair in pairs]
        return self.op("Pad", x, self.ints(widths), self.number(value, x), mode="constant")


@dataclass(frozen=True)
class Call:
    """One layer call that is to be written.

    x: the names of its inputs. weights: arrays in Keras' order; where the parent asks, of zeros.
    """

    w: Writing
    layer: str
    params: Params
    x: tuple[str, ...]
    types: tuple[TensorType, ...]
    outputs: tuple[TensorType, ...]
    weights: tuple[Any, ...] = ()

    @cached_property
    def dtype(self) -> str:
        """That in which the layer computes."""
        floats = [kind.dtype for kind in (*self.types, *self.outputs) if kind.is_float]
        return floats[0] if floats else self.outputs[0].dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.types[0].shape

    @property
    def rank(self) -> int:
        return len(self.types[0].shape)

    @property
    def is_double(self) -> bool:
        """Whether an attribute, which is float32, may have too few digits."""
        return self.dtype == "float64"

    def number(self, value: float) -> str:
        """A number of the layer's dtype."""
        return self.w.constant(value, self.dtype)

    def weight(self, values: Any) -> str:
        """A tensor of the layer's dtype."""
        return self.w.constant(values, self.dtype)

    def expect_no_mask(self) -> None:
        """For a layer whose result depends on a mask."""
        if any(kind.masked for kind in self.types):
            raise Unsaid("the file has no masks")

    def within(self, layer: str, params: Params, **changes: Any) -> list[str]:
        """What a layer inside this one gives."""
        return written(replace(self, layer=layer, params=params, **changes))


Written = Union[str, list[str]]
Writer = Callable[[Call], Written]
WRITERS: dict[str, Writer] = {}


def writes(*layers: str) -> Callable[[Writer], Writer]:
    """Register how the named layers are written."""

    def register(function: Writer) -> Writer:
        for name in layers:
            if name in WRITERS:
                raise ValueError(f"expected one writer per layer; received layer={name!r} twice")
            WRITERS[name] = function
        return function

    return register


def written(call: Call) -> list[str]:
    """The names of a call's outputs, after it has been written."""
    if call.layer not in WRITERS:
        raise Unsaid(f"nobody writes {call.layer}")
    result = WRITERS[call.layer](call)
    return [result] if isinstance(result, str) else result


def exact(value: float, dtype: str) -> bool:
    """Whether an attribute, which is float32, has all the digits that count in a dtype."""
    return dtype != "float64" or float(np.float32(value)) == value
