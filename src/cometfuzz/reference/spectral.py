"""Spectrograms."""

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from cometfuzz.catalogue.spectral import frame_step
from cometfuzz.reference.call import Array, Call, Freedom, meaning
from cometfuzz.reference.convolution import channels_last, convolve

EPSILON = 1e-7
"""Keras' own: what a magnitude is at least, before its logarithm is taken."""


def _transformed(call: Call, side: str) -> Array:
    """The frames of each channel times the kernel of one side, as (batch, channels, frames, frequencies)."""
    p, x = call.params, channels_last(call.x, call.params.data_format)
    signals = np.moveaxis(x, -1, 1)
    flat = signals.reshape(-1, signals.shape[-1], 1)
    y = convolve(call, flat, call.weights[f"{side}_kernel"], (frame_step(p),), (1,), p.padding)
    return y.reshape(*signals.shape[:2], *y.shape[1:])


def _magnitude(call: Call, power: Array) -> Array:
    return call.rounded(np.sqrt(call.rounded(np.maximum(power, call.rounded(np.asarray(EPSILON))))))


def _as_asked(call: Call, y: Array) -> Array:
    """(batch, channels, frames, frequencies) in the layout that the layer returns."""
    p = call.params
    if p.expand_dims:
        return y if p.data_format == "channels_first" else np.moveaxis(y, 1, -1)
    frames = y.shape[2]
    whole = np.moveaxis(y, 2, 1).reshape(y.shape[0], frames, y.shape[1] * y.shape[3])
    return np.moveaxis(whole, 1, 2) if p.data_format == "channels_first" else whole


@meaning("STFTSpectrogram")
def stft_spectrogram(call: Call) -> Array:
    mode = call.params.mode
    sides = {side: _transformed(call, side) for side in ("real", "imag") if f"{side}_kernel" in call.weights}
    if mode in sides:
        return _as_asked(call, sides[mode])
    real, imag = sides["real"], sides["imag"]
    if mode == "stft":
        return _as_asked(call, np.concatenate([real, imag], axis=-1))
    call.leave(Freedom.COMPARISON)
    if mode == "angle":
        call.step(_as_asked(call, np.where(real < 0, np.abs(imag), np.hypot(real, imag))))  # from -pi to pi
        return _as_asked(call, np.arctan2(imag, real))
    power = call.rounded(call.rounded(real**2) + call.rounded(imag**2))
    if mode == "psd":
        twice = np.ones(power.shape[-1])
        twice[1:-1] = 2.0  # frequencies above the half, which are not returned, have the same power
        return _as_asked(call, power * twice)
    magnitude = _magnitude(call, power)
    if mode == "magnitude":
        return _as_asked(call, magnitude)
    return _as_asked(call, np.log(np.maximum(magnitude, EPSILON)))


def _window(name: str | None, length: int, whole: int) -> Array:
    """A periodic window in the middle of a frame, zeros around it."""
    turns = 2 * np.pi * np.arange(length) / length
    shapes = {"hann": 0.5 - 0.5 * np.cos(turns), "hamming": 0.54 - 0.46 * np.cos(turns), None: np.ones(length)}
    before = (whole - length) // 2
    return np.pad(shapes[name], (before, whole - length - before))


def _mel(hertz: Array) -> Array:
    return np.asarray(1127.0 * np.log(1.0 + hertz / 700.0))


def _bands(call: Call, bins: int) -> Array:
    """The share that each frequency has in each band: triangles on the mel scale; frequency 0 is in none."""
    p = call.params
    first, last = _mel(np.array([p.min_freq, p.max_freq or p.sampling_rate // 2]))
    places = call.rounded(_mel(np.linspace(0.0, p.sampling_rate / 2, bins)))[:, None]
    edges = call.rounded(np.linspace(first, last, p.num_mel_bins + 2))
    low, centre, high = edges[:-2], edges[1:-1], edges[2:]
    shares = np.minimum((places - low) / (centre - low), (high - places) / (high - centre))
    shares[0] = 0.0
    return call.rounded(np.maximum(shares, 0.0))


@meaning("MelSpectrogram")
def mel_spectrogram(call: Call) -> Array:
    p, length = call.params, call.params.fft_length
    call.leave(Freedom.COMPARISON)
    padded = np.pad(call.x, [(0, 0), (length // 2, length // 2)], mode="reflect")
    frames = sliding_window_view(padded, length, axis=1)[:, :: p.sequence_stride]
    frames = call.rounded(frames * call.rounded(_window(p.window, p.sequence_length or length, length)))
    turns = 2 * np.pi * np.outer(np.arange(length), np.arange(length // 2 + 1)) / length
    real, imag = (call.contract("nft,tb->nfb", frames, wave) for wave in (np.cos(turns), np.sin(turns)))
    magnitude = call.rounded(np.sqrt(call.rounded(call.rounded(real**2) + call.rounded(imag**2))))
    power = call.contract("nfb,bm->nfm", call.rounded(magnitude**p.mag_exp), _bands(call, length // 2 + 1))
    y = np.moveaxis(power, 1, 2)
    return _decibels(call, y) if p.power_to_db else y


def _decibels(call: Call, power: Array) -> Array:
    """10 log10(power / ref_power), no more than top_db below the largest of all."""
    p = call.params
    level = call.rounded(10.0 * call.rounded(np.log10(np.maximum(power, p.min_power))))
    level = call.rounded(level - 10.0 * np.log10(max(abs(p.ref_power), p.min_power)))
    return np.asarray(np.maximum(level, np.max(level, initial=-np.inf) - p.top_db))
