"""Fourier transforms, as the sums that they are."""

import numpy as np

from cometfuzz.catalogue.operators.spectral import signal_length
from cometfuzz.reference.call import Array, Call, meaning


def waves(rows: int, columns: int, length: int) -> tuple[Array, Array]:
    """cos and sin of 2 pi n k / length, exactly 0 where they are."""
    steps = np.outer(np.arange(rows), np.arange(columns)) % length
    angles = 2.0 * np.pi * steps / length
    return np.where(4 * steps % (2 * length) == length, 0.0, np.cos(angles)), np.where(
        2 * steps % length == 0, 0.0, np.sin(angles)
    )


def transformed(call: Call, real: Array, imaginary: Array, sign: float = 1.0) -> tuple[Array, Array]:
    """The transform along the last axis; with sign -1 that of the inverse, not divided by the length."""
    n = real.shape[-1]
    cos, sin = waves(n, n, n)
    both = np.concatenate([real, imaginary], axis=-1)
    return (
        call.contract("...n,nk->...k", both, np.concatenate([cos, sign * sin])),
        call.contract("...n,nk->...k", both, np.concatenate([-sign * sin, cos])),
    )


@meaning("ops.fft")
def fft(call: Call) -> list[Array]:
    real, imaginary = call.inputs
    return list(transformed(call, real, imaginary))


@meaning("ops.fft2", "ops.ifft2")
def fft2(call: Call) -> list[Array]:
    inverse = call.layer == "ops.ifft2"
    real, imaginary = call.inputs
    for _ in range(2):  # along the last axis, then along the other
        real, imaginary = transformed(call, real, imaginary, sign=-1.0 if inverse else 1.0)
        real, imaginary = np.swapaxes(real, -1, -2), np.swapaxes(imaginary, -1, -2)
    whole = [real, imaginary]
    count = real.shape[-1] * real.shape[-2]
    return [part / count for part in whole] if inverse else whole


def fitted(x: Array, length: int) -> Array:
    """A signal, cut or filled with zeros to a length."""
    lacking = max(0, length - x.shape[-1])
    return np.pad(x[..., :length], [(0, 0)] * (x.ndim - 1) + [(0, lacking)])


@meaning("ops.rfft")
def rfft(call: Call) -> list[Array]:
    length = call.x.shape[-1] if call.params.fft_length is None else call.params.fft_length
    signal = fitted(call.x, length)
    cos, sin = waves(length, length // 2 + 1, length)
    return [call.contract("...n,nk->...k", signal, cos), call.contract("...n,nk->...k", signal, -sin)]


@meaning("ops.irfft")
def irfft(call: Call) -> Array:
    """Numbers between the first and the middle one count twice; imaginary parts of these two do not count at all."""
    length = signal_length(call.x.shape[-1], call.params)
    half = length // 2 + 1
    real, imaginary = (fitted(x, half) for x in call.inputs)
    times = np.where((np.arange(half) == 0) | (2 * np.arange(half) == length), 1.0, 2.0) / length
    cos, sin = waves(half, length, length)
    both = np.concatenate([real, imaginary], axis=-1)
    return call.contract("...k,kn->...n", both, np.concatenate([times[:, None] * cos, -times[:, None] * sin]))
