"""Keras 3 on its backends for inference alone: OpenVINO and NumPy.

A model on OpenVINO is called, not handed to `predict`: that compiles for what the processor is fastest at, bfloat16 on
some, and nobody here judges values by that.
"""

from __future__ import annotations

from cometfuzz.routes import Route, libraries
from cometfuzz.routes.forms import PREDICT, QUANTISED, keras_forms
from cometfuzz.routes.keras import backend_steps, group_of

NUMPY = group_of("keras-numpy", "numpy", JAX_PLATFORMS="cpu")  # which has convolutions and pooling by JAX
OPENVINO = group_of("keras-openvino", "openvino")  # the group of its own name runs files

_ON_NUMPY = backend_steps(NUMPY, "numpy", libraries.KERAS, 0.2, 0.1)
_ON_OPENVINO = backend_steps(OPENVINO, "openvino", libraries.OPENVINO, 0.3, 0.3)
KERAS_NUMPY = Route(
    "keras-numpy",
    "Keras 3 on NumPy",
    "keras3",
    _ON_NUMPY,
    turn="sampled",
    fuses=False,
    known_as="Keras on NumPy",
    forms=keras_forms(*_ON_NUMPY),
)
KERAS_OPENVINO = Route(
    "keras-openvino",
    "Keras 3 on OpenVINO",
    "keras3",
    _ON_OPENVINO,
    turn="sampled",
    known_as="Keras on OpenVINO",
    forms={name: steps for name, steps in keras_forms(*_ON_OPENVINO).items() if name not in (PREDICT, QUANTISED)},
)
