"""Run by a Python that has Keras: saves models that hold most layers, with what they compute, as .keras and as .h5.

python keras_models.py FOLDER PACKAGE [MODEL ...]
"""

import importlib
import json
import sys
from typing import Any

import numpy as np

keras: Any = importlib.import_module(sys.argv[2])
L = keras.layers


def mixed() -> Any:
    """Nested models, one of them frozen in part and called twice, and layers that hold others."""
    x = keras.Input((6, 8), name="x")
    y = L.MultiHeadAttention(2, 4)(x, x, use_causal_mask=True)
    y = L.LayerNormalization(epsilon=1e-6)(L.Add()([x, y]))
    block = keras.Sequential([L.Dense(8, "relu"), L.BatchNormalization(), L.Dropout(0.5)])
    y = block(y) + x
    inner = keras.Input((6, 8))
    frozen = L.Dense(8, name="frozen")
    z = L.BatchNormalization()(frozen(L.BatchNormalization()(inner)))
    frozen.trainable = False
    nested = keras.Model(inner, L.Dense(8, activation="swish")(z))
    y = nested(nested(block(y)))
    y = L.Bidirectional(L.GRU(3, return_sequences=True, dropout=0.1))(y)
    y = L.RNN([L.LSTMCell(3), L.GRUCell(4), L.LSTMCell(2)], return_sequences=True)(y)
    y = L.TimeDistributed(L.BatchNormalization())(L.LSTM(3, return_sequences=True)(y))
    y = L.SeparableConv1D(4, 2)(L.SpectralNormalization(L.Dense(3))(y))
    y = L.Dense(2, activation="gelu")(y)
    return keras.Model(x, L.ReLU(6.0, negative_slope=0.1)(L.LeakyReLU(0.25)(y)))


def images() -> Any:
    x = keras.Input((9, 9, 3))
    y = L.Conv2D(4, 3, padding="same", activation="relu")(L.Rescaling(0.5, 0.1)(x))
    y = L.DepthwiseConv2D(3, depth_multiplier=2)(L.ZeroPadding2D(1)(y))
    y = L.BatchNormalization(axis=-1, epsilon=1e-4)(y)
    y = L.PReLU(shared_axes=[1, 2])(L.MaxPooling2D(2, padding="same")(y))
    y = L.SeparableConv2D(4, 3, padding="same")(L.UpSampling2D(2, interpolation="bilinear")(y))
    y = L.Conv2DTranspose(3, 3, strides=2)(L.Cropping2D(1)(y))
    y = L.Activation("softplus")(L.AveragePooling2D(3)(y))
    y = L.Concatenate()([L.GlobalAveragePooling2D()(y), L.GlobalMaxPooling2D()(y), L.Flatten()(y)])
    y = L.Permute((2, 1))(L.RepeatVector(3)(L.ELU(0.5)(y)))
    return keras.Model(x, L.Dot(axes=1)([L.Softmax(axis=1)(y), y]))


def tokens() -> Any:
    """A mask, and a GRU of the old kind."""
    x = keras.Input((7,), dtype="int32")
    y = L.Embedding(20, 5, mask_zero=True)(x)
    y = L.Bidirectional(L.LSTM(4, return_sequences=True), merge_mode="sum")(y)
    y = L.GRU(4, return_sequences=True, reset_after=False)(y)
    return keras.Model(x, L.GlobalAveragePooling1D()(y))


def dropped() -> Any:
    """A mask that does not survive an operation."""
    x = keras.Input((7,), dtype="int32")
    y = L.Embedding(20, 5, mask_zero=True)(x) + L.Embedding(20, 5)(x)
    return keras.Model(x, L.LSTM(4)(y))


def attention() -> Any:
    x = keras.Input((6, 8))
    y = L.AdditiveAttention()([L.Attention(use_scale=True)([x, x]), x])
    y = L.UnitNormalization()(L.GroupNormalization(4)(y))
    y = L.EinsumDense("abc,cd->abd", output_shape=(None, 4), bias_axes="d")(y)
    y = L.Reshape((13, 3, 1))(L.Identity()(L.Conv1DTranspose(3, 3, strides=2)(L.Reshape((6, 4))(y))))
    y = L.ConvLSTM1D(2, 2, recurrent_activation="sigmoid", return_sequences=True)(y)
    y = L.RNN(L.SimpleRNNCell(3), return_sequences=True)(L.Masking(0.0)(L.Reshape((13, 4))(y)))
    return keras.Model(x, L.Activation("tanh")(y))


def deep() -> Any:
    inmost = keras.Sequential([L.Dense(4, name="a"), L.BatchNormalization(), L.Dense(4, name="b")])
    return keras.Sequential([keras.Input((4,)), keras.Sequential([L.Dense(4), inmost]), L.Dense(4, name="last")])


def simple() -> Any:
    """What Keras 2.2.4 has too: the input's shape in the first layer, and in that of a nested model."""
    inner = keras.models.Sequential([L.Conv2D(4, 1, input_shape=(6, 6, 4)), L.LeakyReLU(0.25)])
    first = keras.models.Sequential([L.Conv2D(4, 3, padding="same", input_shape=(6, 6, 3), activation="relu"), inner])
    for layer in (L.MaxPooling2D(), L.Flatten(), L.Dense(5, activation="tanh"), L.Dense(3)):
        first.add(layer)
    return first


def custom_loss(expected: Any, seen: Any) -> Any:
    return (expected - seen) ** 2


MODELS = {make.__name__: make for make in (mixed, images, tokens, dropped, attention, deep, simple)}


def main(folder: str, names: list[str]) -> None:
    for name in names:
        model, draw = MODELS[name](), np.random.default_rng(7)
        weights = [draw.uniform(-0.6, 0.6, weight.shape) + ("variance" in weight.name) for weight in model.weights]
        model.set_weights(weights)
        shape = (1, *model.input_shape[1:])
        x = (
            draw.integers(0, 20, shape).astype("int32")
            if len(shape) == 2 and shape[1] == 7
            else draw.uniform(-1, 1, shape)
        )
        x = x if x.dtype == "int32" else x.astype("float32")
        y = np.asarray(model.predict_on_batch(x))
        with open(f"{folder}/{name}.json", "w") as file:
            json.dump({"x": x.tolist(), "y": y.tolist()}, file)
        if hasattr(keras, "losses") and name != "simple":
            own = type("OwnLoss", (keras.losses.Loss,), {"call": staticmethod(custom_loss)})
            model.compile("adam", own() if name == "mixed" else custom_loss)
            model.save(f"{folder}/{name}.keras")
        model.save(f"{folder}/{name}.h5")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[3:] or list(MODELS))
