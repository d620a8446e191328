"""Spectrograms in the reference, held against Fourier transforms."""

import math

import numpy as np
import pytest
from calling import numbers, output


def kernels(length: int, bins: int) -> dict[str, np.ndarray]:
    turns = -2 * np.pi * np.outer(np.arange(length), np.arange(bins)) / (2 * (bins - 1))
    return {"real_kernel": np.cos(turns)[:, None, :], "imag_kernel": np.sin(turns)[:, None, :]}


def test_stft_is_the_fourier_transform_of_frames() -> None:
    x, weights = numbers(2, 11, 3), kernels(4, 3)
    y = output("STFTSpectrogram", x, weights=weights, mode="stft", frame_length=4, frame_step=2, expand_dims=True)
    for batch, frame, channel in np.ndindex(2, 4, 3):
        expected = np.fft.rfft(x[batch, 2 * frame : 2 * frame + 4, channel])
        assert np.allclose(y[batch, frame, :, channel], [*expected.real, *expected.imag])


def test_modes_and_layouts_of_stft() -> None:
    x, weights = numbers(2, 3, 11), kernels(4, 3)
    given = {"weights": weights, "frame_length": 4, "data_format": "channels_first"}
    power = np.abs(np.fft.rfft(np.stack([x[..., start : start + 4] for start in range(0, 8, 2)], axis=2))) ** 2
    assert np.allclose(output("STFTSpectrogram", x, mode="magnitude", expand_dims=True, **given), np.sqrt(power))
    assert np.allclose(output("STFTSpectrogram", x, mode="psd", expand_dims=True, **given), power * [1, 2, 1])
    flat = output("STFTSpectrogram", x, mode="log", **given)
    assert np.allclose(flat, np.log(np.moveaxis(np.sqrt(power), 3, 2)).reshape(2, 9, 4))


def test_a_silent_signal_has_a_least_magnitude() -> None:
    y = output("STFTSpectrogram", np.zeros((1, 4, 1)), weights=kernels(4, 3), mode="log", frame_length=4)
    assert np.allclose(y, math.log(math.sqrt(1e-7)))


def test_mel_bands() -> None:
    x = numbers(2, 20)
    y = output("MelSpectrogram", x, fft_length=8, sequence_stride=3, num_mel_bins=2, power_to_db=False)
    padded = np.pad(x, [(0, 0), (4, 4)], mode="reflect")
    window = np.array([math.sin(math.pi * place / 8) ** 2 for place in range(8)])
    mel = [2595 * math.log10(1 + hertz / 700) for hertz in (20, 8000)]
    edges = [mel[0] + (mel[1] - mel[0]) * place / 3 for place in range(4)]
    for batch, band, frame in np.ndindex(2, 2, 7):
        power = np.abs(np.fft.rfft(padded[batch, 3 * frame : 3 * frame + 8] * window)) ** 2
        low, centre, high = edges[band : band + 3]
        places = [2595 * math.log10(1 + 2000 * index / 700) for index in range(5)]
        shares = [max(0.0, min((at - low) / (centre - low), (high - at) / (high - centre))) for at in places]
        # the two formulas of the mel scale agree in four digits
        assert y[batch, band, frame] == pytest.approx(float(np.dot(shares[1:], power[1:])), rel=1e-3, abs=1e-4)


def test_decibels_end_below_the_largest() -> None:
    x, given = numbers(1, 16), {"fft_length": 8, "sequence_stride": 4, "num_mel_bins": 3}
    power = output("MelSpectrogram", x, power_to_db=False, **given)
    level = output("MelSpectrogram", x, top_db=10.0, ref_power=2.0, **given)
    expected = 10 * np.log10(np.maximum(power, 1e-10) / 2)
    assert np.allclose(level, np.maximum(expected, expected.max() - 10))
