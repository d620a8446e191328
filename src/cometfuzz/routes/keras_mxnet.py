"""Keras-MXNet (Keras 2.2.4) on MXNet, in an environment of its own. It computes in one dtype for the whole process."""

from __future__ import annotations

import collections
import collections.abc
import inspect
import math
from collections.abc import Mapping
from typing import Any

from cometfuzz.compat import zip_strictly
from cometfuzz.ir.graph import Graph, Node, Params
from cometfuzz.ir.types import TensorType
from cometfuzz.routes import QUIET, Group, Route, Stage, Step, Work, libraries
from cometfuzz.routes.keras import PLAINLY, Building, KerasAdapter
from cometfuzz.routes.keras2 import ABSENT as ABSENT_IN_KERAS2
from cometfuzz.routes.keras2 import RENAMED
from cometfuzz.routes.keras_types import Open

_ENVIRON = {**QUIET, "KERAS_BACKEND": "mxnet", "MXNET_ENGINE_TYPE": "NaiveEngine"}
_GROUP = Group("mxnet", "mxnet", _ENVIRON)
_BUILD = Step("keras-mxnet", _GROUP, __name__, "build", (Stage("build", libraries.KERAS_MXNET),), live=True, cpu_s=0.02)
_RUN = Step("run", _GROUP, __name__, "run", (Stage("run", libraries.MXNET),), engine=PLAINLY, cpu_s=0.01)
KERAS_MXNET = Route(
    "keras-mxnet", "Keras-MXNet on MXNet", "keras2", (_BUILD, _RUN), one_dtype=True, turn="sampled", fuses=False
)

ABSENT: dict[str, Any] = {
    "groups": 1,
    "keepdims": False,
    "output_padding": None,
    "interpolation": "nearest",
    "data_format": "channels_last",
    "reset_after": False,
    "noise_shape": None,
    "dilation_rate": 1,
    "sparse": False,
    "seed": None,
    "time_major": False,
    "activity_regularizer": None,
    "zero_output_for_mask": False,
}
"""Parameters that layers of this old Keras may lack, with the value that it stands for."""


def start(options: Mapping[str, str]) -> MxnetAdapter:
    """Import Keras, which looks for names on `collections` that have moved since."""
    for name in collections.abc.__all__:
        if not hasattr(collections, name):
            setattr(collections, name, getattr(collections.abc, name))
    import keras
    import mxnet

    return MxnetAdapter(keras, mxnet)


class NotInKerasMxnet(Exception):
    """A layer, parameter or operation that Keras-MXNet does not have."""


class MxnetAdapter(KerasAdapter):
    """Serves graphs on Keras-MXNet."""

    def __init__(self, keras: Any, mxnet: Any) -> None:
        self.keras, self.backend, self.mxnet, self.served = keras, "mxnet", mxnet, 0

    def versions(self) -> dict[str, str]:
        return {"keras-mxnet": self.keras.__version__, "mxnet": self.mxnet.__version__}

    def forget(self, graph: Graph) -> None:
        kinds = [kind.dtype for node in graph.nodes for kind in node.outputs if kind.is_float]
        self.keras.backend.set_floatx(kinds[0] if kinds else "float32")
        self.keras.backend.clear_session()
        self.mxnet.random.seed(0)
        self.served += 1

    def input(self, kind: TensorType, name: str, any_batch: bool, shape: Open) -> Any:
        return self.keras.layers.Input(batch_shape=kind.shape, dtype=kind.dtype, name=name)

    def make_model(self, inputs: Any, outputs: Any) -> Any:
        return self.keras.models.Model(inputs, outputs)

    def layer(self, name: str, params: Params, dtype: str, node_id: str | None = None) -> Any:
        kind = getattr(self.keras.layers, name, None)
        if kind is None:
            raise NotInKerasMxnet(f"no layer {name}")
        values = {RENAMED.get((name, parameter), parameter): value for parameter, value in params.items()}
        known = {known for base in kind.__mro__ for known in inspect.signature(base.__init__).parameters}
        for parameter, given in list(values.items()):
            absent = parameter not in known and parameter not in ("dtype", "trainable")
            if absent or (name, parameter) in ABSENT_IN_KERAS2:
                if not _stands_for_itself(parameter, given):
                    raise NotInKerasMxnet(f"{name} has no parameter {parameter}={given!r}")
                del values[parameter]
        # names of variables outlive their model, so no two cases may have the same
        return super().layer(name, Params(values), dtype, node_id and f"{node_id}_{self.served}")

    def utility(self, node: Node, x: Any) -> Any:
        from keras.backend import mxnet_backend

        def apply(value: Any) -> Any:
            return mxnet_backend.KerasSymbol(utility(self.mxnet.sym, node, value.symbol, str(value.dtype)))

        apply = mxnet_backend.keras_mxnet_symbol(apply)
        return self.keras.layers.Lambda(apply, output_shape=lambda shape: node.outputs[0].shape, name=node.id)(x)

    def try_out(self, work: Work, layers: dict[str, Any]) -> None:
        """Call the nodes of a graph; only a whole model runs on real tensors."""
        self._grow(work, Building(), work.graph.nodes, {}, layers)

    def static_type(self, value: Any) -> tuple[str, tuple[int | None, ...]]:
        return str(self.keras.backend.dtype(value)), tuple(self.keras.backend.int_shape(value))

    def _call(self, model: Any, given: list[Any]) -> list[Any]:
        result = model.predict_on_batch(given)
        return list(result) if isinstance(result, (list, tuple)) else [result]

    def _tensor(self, array: Any) -> Any:
        return array

    def _values(self, value: Any) -> tuple[str, Any]:
        return value.dtype.name, value


def _stands_for_itself(parameter: str, value: Any) -> bool:
    """Whether a layer without this parameter behaves as if it had this value."""
    if parameter == "implementation":  # of no effect on the result
        return True
    if parameter in ABSENT:
        plain = ABSENT[parameter]
        return all(part == plain for part in value) if isinstance(value, tuple) else bool(value == plain)
    return value is None


def utility(ops: Any, node: Node, x: Any, dtype: str) -> Any:
    """A utility node in MXNet's own operators."""
    p, shape = node.params, node.outputs[0].shape
    if "bool" in (dtype, node.outputs[0].dtype):
        raise NotInKerasMxnet("MXNet Backend: Unsupported dtype: bool")
    if node.layer == "cast":
        if p.dtype == "int32":
            x = ops.where(x == x, x, ops.zeros_like(x)) if "float" in dtype else x
            x = ops.clip(x, 0, p.high - 1)
        return ops.cast(x, p.dtype)
    if node.layer == "pad":
        return _pad(ops, x, node, dtype)
    if node.layer == "crop":
        begin = tuple(before for before, _ in p.crops)
        return ops.slice(x, begin=begin, end=tuple(at + size for at, size in zip_strictly(begin, shape)))
    if node.layer in ("expand", "squeeze", "reshape"):
        return ops.reshape(x, shape=shape)
    value = 0.0 if p.value == "zero" else float(p.value)
    if node.layer == "scale":
        return x * value
    filled = ops.full(shape, value, dtype=dtype)
    if p.elements == "all":
        return ops.broadcast_add(ops.zeros_like(x), filled)
    first = ops.reshape(ops.arange(0, math.prod(shape)) == 0, shape=shape)
    return ops.where(first, filled, x)


def _pad(ops: Any, x: Any, node: Node, dtype: str) -> Any:
    """Axis by axis: MXNet's own pad knows images only."""
    sizes = [size - sum(pads) for size, pads in zip_strictly(node.outputs[0].shape, node.params.paddings)]
    for axis, pads in enumerate(node.params.paddings):
        parts = [
            ops.full((*sizes[:axis], count, *sizes[axis + 1 :]), node.params.value, dtype=dtype) if count else None
            for count in pads
        ]
        x = ops.concat(*[part for part in (parts[0], x, parts[1]) if part is not None], dim=axis)
        sizes[axis] += sum(pads)
    return x
