"""The four small published models (the paper, table "Statistics of Original Models"), layer by layer, with batch 1.

The paper gives their sizes only, not their structures. What stands here was put together from the authors' released
synthesised models, which keep most parameters of the original layers (input shapes, kernel sizes, strides, activations,
dropout rates, the size of the first layer), and from where the originals come from: LEMON's data loader, the stock
price project that it names, and a tutorial's AlexNet for CIFAR-10. The other sizes are the usual ones that give the
published number of weights. What is still guessed is said at each model; `tests/unit/test_seeds.py` compares with the
paper's numbers.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from cometfuzz.catalogue import spec_of
from cometfuzz.catalogue.validate import assemble
from cometfuzz.ir.graph import INPUT, Draft, Edge, Graph

INITIALISERS = {
    "kernel_initializer": "glorot_uniform",
    "recurrent_initializer": "Orthogonal",
    "gamma_initializer": "Ones",
    "moving_variance_initializer": "Ones",
}
"""Keras' defaults, which the originals use; every other weight starts from Zeros, as in the catalogue.

The authors' files name the first one as old Keras stored it: VarianceScaling with the arguments that make it
glorot_uniform. Our VarianceScaling has no arguments and would be another distribution.
"""


class ChainedLayer(NamedTuple):
    """One layer of a chain: its name, and the parameters that differ from the defaults."""

    layer: str
    params: Mapping[str, Any]


def call(layer: str, **params: Any) -> ChainedLayer:
    """A layer as a chain lists it."""
    return ChainedLayer(layer, params)


def chain(shape: tuple[int, ...], *calls: ChainedLayer) -> Graph:
    """A model whose layers follow each other; `shape` is that of its input, with batch."""
    drafts = [Draft(INPUT, INPUT, {"shape": shape}, ())]
    for number, (layer, params) in enumerate(calls, start=1):
        known = spec_of(layer).params
        defaults = {name: value for name, value in INITIALISERS.items() if name in known}
        drafts.append(Draft(f"{layer.lower()}_{number}", layer, {**defaults, **params}, (Edge(drafts[-1].id),)))
    return assemble(drafts, [Edge(drafts[-1].id)])


def lenet() -> Graph:
    """LeNet on MNIST: 61,706 weights.

    Inferred from that number: 16 filters, 120 and 84 units, as in LeNet-5. Guessed, and of no influence on the paper's
    numbers: which Dense layer the Dropout follows, and the activations of the Dense layers.
    """
    return chain(
        (1, 28, 28, 1),
        call("Conv2D", filters=6, kernel_size=5, padding="same", activation="relu"),
        call("AveragePooling2D", pool_size=2, strides=2),
        call("Conv2D", filters=16, kernel_size=5, activation="relu"),
        call("AveragePooling2D", pool_size=2, strides=2),
        call("Flatten"),
        call("Dense", units=120, activation="relu"),
        call("Dense", units=84, activation="relu"),
        call("Dropout", rate=0.1),
        call("Dense", units=10, activation="softmax"),
    )


def alexnet() -> Graph:
    """AlexNet on CIFAR-10: 21,592,330 weights.

    The structure is that of a tutorial (cswithjames.com, "Build & Train AlexNet With CIFAR10 Dataset"); the paper does
    not name it, but weights, layers and all three counts are the paper's. Guessed, and of no influence on them: the
    activations of the Dense layers, which are those of copies of the tutorial.
    """
    return chain(
        (1, 32, 32, 3),
        call("Conv2D", filters=96, kernel_size=3, strides=2, padding="same", activation="relu"),
        call("MaxPooling2D", pool_size=2, strides=2),
        call("BatchNormalization"),
        call("Conv2D", filters=256, kernel_size=5, padding="same", activation="relu"),
        call("MaxPooling2D", pool_size=3, strides=2),
        call("BatchNormalization"),
        call("Conv2D", filters=384, kernel_size=3, padding="same", activation="relu"),
        call("Conv2D", filters=384, kernel_size=3, padding="same", activation="relu"),
        call("Conv2D", filters=256, kernel_size=3, padding="same", activation="relu"),
        call("MaxPooling2D", pool_size=3, strides=2),
        call("BatchNormalization"),
        call("Flatten"),
        call("Dense", units=4096, activation="tanh"),
        call("Dropout", rate=0.5),
        call("Dense", units=4096, activation="tanh"),
        call("Dropout", rate=0.5),
        call("Dense", units=10, activation="softmax"),
    )


def lstm_sine_wave() -> Graph:
    """The LSTM on sine waves: 70,901 weights. Inferred from that number: the 100 units of the second LSTM."""
    return chain(
        (1, 49, 1),
        call("LSTM", units=50, recurrent_activation="hard_sigmoid", return_sequences=True),
        call("Dropout", rate=0.05),
        call("LSTM", units=100, recurrent_activation="hard_sigmoid"),
        call("Dropout", rate=0.05),
        call("Dense", units=1),
    )


def lstm_stock_price() -> Graph:
    """The LSTM on stock prices: 26,626 weights. LEMON feeds 240 days as the features of one single step."""
    return chain(
        (1, 1, 240),
        call("LSTM", units=25, recurrent_activation="hard_sigmoid"),
        call("Dropout", rate=0.1),
        call("Dense", units=1),
    )


SMALL: dict[str, Callable[[], Graph]] = {
    "AlexNet": alexnet,
    "LSTM (SineWave)": lstm_sine_wave,
    "LeNet": lenet,
    "LSTM (StockPrice)": lstm_stock_price,
}
"""The small models by their names in the paper's table, in its order."""
