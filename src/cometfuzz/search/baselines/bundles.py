"""LEMON's bundles of layers: each changes the shape of a tensor and brings it back."""

import math
from collections.abc import Iterator, Sequence

from cometfuzz.ir.types import TensorType
from cometfuzz.seeds.small import ChainedLayer, call

MOST_ELEMENTS = 10_000
"""Of an instance that a bundle may stand behind."""

UNITS = 50
WINDOW = 3


def bundles(kind: TensorType, as_written: bool) -> list[Sequence[ChainedLayer]]:
    """All bundles for a type of tensor. as_written: as in the published code, where two of them end in a Dense layer
    that works on another axis than was meant, so that shapes mostly do not meet."""
    if math.prod(kind.shape[1:]) > MOST_ELEMENTS or 0 in kind.shape:
        return []
    found: list[Sequence[ChainedLayer]] = list(_for_any_rank(kind))
    if kind.rank == 3:
        found += _for_series(kind, as_written)
    if kind.rank == 5 and min(kind.shape[2:-1]) > WINDOW:
        found.append([call("ConvLSTM2D", filters=kind.shape[-1], kernel_size=1, padding="same", return_sequences=True)])
    return found


def _for_any_rank(kind: TensorType) -> Iterator[Sequence[ChainedLayer]]:
    sizes, channels, axes = kind.shape[1:-1], kind.shape[-1], kind.rank - 2
    if kind.rank == 2:
        yield [call("RepeatVector", n=3), call("Reshape", target_shape=(3 * channels,)), call("Dense", units=channels)]
    if kind.rank > 3:
        yield _restored(kind, call("Flatten"))
    if axes not in (1, 2, 3):
        return
    if axes > 1:
        if min(sizes) > 2:
            cropped = math.prod(size - 2 for size in sizes) * channels
            flat = call("Reshape", target_shape=(cropped,))
            yield _restored(kind, call(f"Cropping{axes}D", cropping=((1, 1),) * axes), flat)
        yield _restored(kind, call(f"UpSampling{axes}D", size=(2,) * axes), call("Flatten"))
    pair = (1, 1) if axes == 1 else ((1, 1),) * axes
    padded = call(f"ZeroPadding{axes}D", padding=pair)
    yield [padded, call(f"Conv{axes}D", filters=channels, kernel_size=WINDOW, padding="valid")]
    for name in ("Max", "Average"):
        yield _restored(kind, call(f"Global{name}Pooling{axes}D"))


def _for_series(kind: TensorType, as_written: bool) -> Iterator[Sequence[ChainedLayer]]:
    steps, channels = kind.shape[1:]
    cropped, doubled = call("Cropping1D", cropping=(1, 1)), call("UpSampling1D", size=2)
    if as_written:
        yield [cropped, call("Dense", units=steps)]
        yield [doubled, call("Dense", units=steps * channels)]
    else:
        if steps > 2:
            yield _restored(kind, cropped, call("Flatten"))
        yield _restored(kind, doubled, call("Flatten"))
    for name in ("SimpleRNN", "GRU", "LSTM"):
        yield _restored(kind, call(name, units=UNITS))


def _restored(kind: TensorType, *calls: ChainedLayer) -> Sequence[ChainedLayer]:
    """Layers that end in a vector, and what makes the former shape of it."""
    shape = kind.shape[1:]
    return [*calls, call("Dense", units=math.prod(shape)), call("Reshape", target_shape=shape)]
