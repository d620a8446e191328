"""Keras with a fault that shows in one kind of model only; what the child of a planted route imports.

A fault is a text, so that the clean process of a script can have the same one.
"""

from collections.abc import Mapping

from cometfuzz.routes.keras import KerasAdapter

FAULTS = {
    "open": """
class Dense(keras.layers.Dense):
    def build(self, input_shape):
        self.opened = None in input_shape[1:-1]
        super().build(input_shape)

    def call(self, inputs, training=None):
        result = super().call(inputs, training)
        return result + 1.0 if self.opened else result

keras.layers.Dense = Dense
""",
    "inside": """
class Dense(keras.layers.Dense):
    def call(self, inputs, training=None):
        import sys
        frame, models = sys._getframe(), 0
        while frame is not None:
            models += frame.f_code.co_name == "run_through_graph" or frame.f_code.co_name == "_run_through_graph"
            frame = frame.f_back
        result = super().call(inputs, training)
        return result + 1.0 if models > 1 else result

keras.layers.Dense = Dense
""",
    "mixed": """
class Dense(keras.layers.Dense):
    def call(self, inputs, training=None):
        result = super().call(inputs, training)
        return result + 1.0 if self.compute_dtype != self.variable_dtype else result

keras.layers.Dense = Dense
""",
    "operator": """
minimum = keras.ops.minimum
keras.ops.minimum = lambda x1, x2: minimum(x1, x2) + 1.0
""",
}


def start(options: Mapping[str, str]) -> KerasAdapter:
    import keras

    exec(FAULTS[options["fault"]], {"keras": keras})
    return KerasAdapter(keras, options["backend"])
