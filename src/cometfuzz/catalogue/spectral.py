"""Spectrograms: the frequencies in a signal, frame by frame."""

import math
from typing import Any

from cometfuzz.catalogue.shapes import channels, spatial, window
from cometfuzz.catalogue.spaces import (
    BOOLEAN_FALSE,
    BOOLEAN_TRUE,
    DATA_FORMAT,
    SAME_OR_VALID,
    Choice,
    Floats,
    Ints,
    Optional,
)
from cometfuzz.catalogue.spec import KERAS3, NO_FLOATS, Ours, Shape, draw_dtype, layer
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Params
from cometfuzz.ir.types import FLOATS, TensorType

_STFT_DTYPES = ("float16", "float32", "float64")


def frame_step(p: Params) -> int:
    """How far a frame of STFTSpectrogram is from the next."""
    return int(p.frame_step or p.frame_length // 2)


def frequencies(p: Params) -> int:
    """How many frequencies each frame of STFTSpectrogram has."""
    length = p.fft_length or 2 ** math.ceil(math.log2(p.frame_length))
    return int(length) // 2 + 1


def _frames(x: TensorType, p: Params) -> int:
    return window(spatial(x, p), (p.frame_length,), (frame_step(p),), (1,), p.padding)[0]


def _stft_shape(x: TensorType, p: Params) -> Shape:
    bins = frequencies(p) * (2 if p.mode == "stft" else 1)
    frames, several = _frames(x, p), channels(x, p)
    first = p.data_format == "channels_first"
    if p.expand_dims:
        return (x.shape[0], several, frames, bins) if first else (x.shape[0], frames, bins, several)
    return (x.shape[0], several * bins, frames) if first else (x.shape[0], frames, several * bins)


def _stft_weights(x: TensorType, p: Params) -> dict[str, Shape]:
    shape = (p.frame_length, 1, frequencies(p))
    sides = [side for side, other in (("real", "imag"), ("imag", "real")) if p.mode != other]
    return {f"{side}_kernel": shape for side in sides}


def _draw_signal(draw: Draw) -> tuple[TensorType, ...]:
    sizes = draw.integer(2, 12), draw.integer(1, 3)
    shape = (draw.integer(1, 3), *(sizes if draw.chance(0.6) else sizes[::-1]))
    return (TensorType(draw_dtype(draw, _STFT_DTYPES), shape),)


layer(
    "STFTSpectrogram",
    ranks=(3,),
    output_ranks=(3, 4),
    dtypes=_STFT_DTYPES,
    params={
        "mode": Choice("log", "magnitude", "psd", "real", "imag", "angle", "stft"),
        "frame_length": Ints(2, 6),
        "frame_step": Optional(Ints(1, 4)),
        "fft_length": Optional(Ints(2, 9)),
        "window": Choice("hann", "hamming", None, effect="build"),
        "periodic": Choice(*BOOLEAN_FALSE.values, effect="build"),
        "scaling": Choice("density", "spectrum", None, effect="build"),
        "padding": SAME_OR_VALID,
        "expand_dims": BOOLEAN_FALSE,
        "data_format": DATA_FORMAT,
    },
    rules={
        "frames leave no gaps": lambda x, p: p.frame_step is None or p.frame_step <= p.frame_length,
        "a frame fits into the transform": lambda x, p: p.fft_length is None or p.fft_length >= p.frame_length,
        "there is a frame, and a channel": Ours(lambda x, p: _frames(x, p) >= 1 and channels(x, p) >= 1),
    },
    shape=_stft_shape,
    weights=_stft_weights,
    inputs=_draw_signal,
    libraries=(KERAS3,),
    doc="Each frame times a kernel of cosines and one of sines, its weights; then what `mode` makes of the two.",
)


def mel_frames(samples: int, p: Params) -> int:
    """How many frames MelSpectrogram makes: one at each stride, centred, with the signal mirrored at its ends."""
    return 1 + samples // int(p.sequence_stride)


def _highest(p: Params) -> float:
    return float(p.max_freq or p.sampling_rate // 2)


def _draw_samples(draw: Draw) -> tuple[TensorType, ...]:
    return (TensorType(draw_dtype(draw, FLOATS), (draw.integer(1, 3), draw.integer(3, 24))),)


def _window_is_known(x: Any, p: Params) -> bool:
    """Without a window, nothing says what becomes of the rest of a frame that is longer than the window would be."""
    return bool(p.window is not None or p.sequence_length in (None, p.fft_length))


layer(
    "MelSpectrogram",
    as_floats=NO_FLOATS,
    ranks=(2,),
    output_ranks=(3,),
    params={
        "fft_length": Choice(4, 2, 8, 16),
        "sequence_stride": Ints(1, 6),
        "sequence_length": Optional(Ints(2, 16)),
        "window": Choice("hann", "hamming", None),
        "sampling_rate": Choice(16000, 8000, 44100),
        "num_mel_bins": Ints(1, 6),
        "min_freq": Floats(0, 400, 20, step=20),
        "max_freq": Optional(Floats(1000, 4000, 4000, step=100)),
        "power_to_db": BOOLEAN_TRUE,
        "top_db": Floats(10, 80, 80, step=5),
        "mag_exp": Choice(2.0, 1.0),
        "min_power": Choice(1e-10, 1e-5),
        "ref_power": Floats(0.5, 2, 1, step=0.25),
    },
    rules={
        "a window fits into the transform": lambda x, p: p.sequence_length is None or p.sequence_length <= p.fft_length,
        "a window is known, or as long as the transform": Ours(_window_is_known),
        "a signal is longer than what is mirrored": Ours(lambda x, p: x.shape[1] > p.fft_length // 2),
        "frequencies are below half the sampling rate": Ours(lambda x, p: _highest(p) <= p.sampling_rate / 2),
    },
    shape=lambda x, p: (x.shape[0], p.num_mel_bins, mel_frames(x.shape[1], p)),
    inputs=_draw_samples,
    libraries=(KERAS3,),
    doc="The power of a signal in each band of the mel scale, frame by frame; in decibels if asked for.",
)
