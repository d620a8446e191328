"""Builds a graph with tf-keras (Keras 2) on TensorFlow: the only library that still has all of the paper's layers."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from cometfuzz.ir.graph import Graph, Params
from cometfuzz.routes import QUIET, Group, Route, Stage, Step
from cometfuzz.routes.keras import PLAINLY, KerasAdapter
from cometfuzz.routes.libraries import TENSORFLOW, TF_KERAS

_GROUP = Group("tf-keras", "main", {**QUIET, "KERAS_BACKEND": "tensorflow", "TF_USE_LEGACY_KERAS": "1"})
_PACKAGE = {"package": "tf_keras"}
_BUILD = Step("keras2-tf", _GROUP, __name__, "build", (Stage("build", TF_KERAS),), _PACKAGE, live=True, cpu_s=0.15)
_RUN = Step("run", _GROUP, __name__, "run", (Stage("run", TENSORFLOW),), _PACKAGE, engine=PLAINLY, cpu_s=0.05)
KERAS2_TF = Route("keras2-tf", "tf-keras (Keras 2) on TensorFlow", "keras2", (_BUILD, _RUN), turn="only", fuses=False)

RENAMED = {("LeakyReLU", "negative_slope"): "alpha"}
"""Parameters that have another name in Keras 2."""

ABSENT: dict[tuple[str, str], Any] = {("ZeroPadding1D", "data_format"): "channels_last"}
"""Parameters that Keras 2 does not have, with the value that it stands for."""


def start(options: Mapping[str, str]) -> Keras2Adapter:
    """Import tf-keras, beside which Keras 3 may be installed; or what Keras 2 was called in its own time."""
    import tensorflow

    return Keras2Adapter(import_module(options["package"]), tensorflow)


class Keras2Adapter(KerasAdapter):
    """Serves graphs on tf-keras."""

    def __init__(self, keras: Any, tensorflow: Any) -> None:
        super().__init__(keras, "tensorflow")
        self.tensorflow, self.ops = tensorflow, _operations(tensorflow)

    def versions(self) -> dict[str, str]:
        name = self.keras.__name__.replace("_", "-")
        return {name: self.keras.__version__, "tensorflow": self.tensorflow.__version__}

    def forget(self, graph: Graph) -> None:
        utils = self.keras.utils  # which in some releases has it under the name of TensorFlow only
        (utils if hasattr(utils, "set_random_seed") else self.tensorflow.keras.utils).set_random_seed(0)
        self.keras.backend.clear_session()

    def layer(self, name: str, params: Params, dtype: str, node_id: str | None = None) -> Any:
        values = dict(params)
        for parameter in params:
            if (name, parameter) in RENAMED:
                values[RENAMED[name, parameter]] = values.pop(parameter)
            elif (name, parameter) in ABSENT and values[parameter] == ABSENT[name, parameter]:
                del values[parameter]
        return super().layer(name, Params(values), dtype, node_id)

    def cast(self, value: Any, dtype: str) -> Any:
        return self.tensorflow.cast(value, dtype)

    def _tensor(self, array: Any) -> Any:
        return self.tensorflow.constant(array)

    def _values(self, value: Any) -> tuple[str, Any]:
        return str(value.dtype.name), value.numpy()


def _operations(tf: Any) -> SimpleNamespace:
    """The operations that utility nodes need, under the names of keras.ops."""
    return SimpleNamespace(
        cast=tf.cast,
        clip=lambda x, low, high: tf.minimum(tf.maximum(x, tf.cast(low, x.dtype)), tf.cast(high, x.dtype)),
        expand_dims=tf.expand_dims,
        full_like=lambda x, value: tf.zeros_like(x) + tf.cast(value, x.dtype),
        isnan=tf.math.is_nan,
        multiply=tf.multiply,
        not_equal=lambda x, value: tf.not_equal(x, tf.cast(value, x.dtype)),
        pad=lambda x, paddings, constant_values: tf.pad(x, paddings, constant_values=constant_values),
        reshape=tf.reshape,
        slice=tf.slice,
        squeeze=lambda x, axis: tf.squeeze(x, [axis]),
        where=tf.where,
        zeros_like=tf.zeros_like,
    )
