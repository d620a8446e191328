"""A library of seven layers in NumPy. Three of them are wrong."""

import numpy as np


def dense(x, kernel, bias):
    """x times a matrix, plus a vector."""
    return np.einsum("ni,io->no", x, kernel) + bias


def leaky_relu(x, slope):
    """What is below zero times a slope, the rest as it is."""
    return np.where(x < 0, x.dtype.type(slope) * x, x)


def add(*tensors):
    """The sum."""
    return sum(tensors[1:], start=tensors[0])


def flatten(x):
    """All axes but the first in one."""
    return x.reshape(len(x), int(np.prod(x.shape[1:])))


def softmax(x, axis):
    """exp(x) divided by its sum along an axis, or along several."""
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def concatenate(tensors, axis):
    """The tensors one after the other along an axis."""
    return np.concatenate(tensors, axis)


def average_pool(x, size, stride, same):
    """The average of each window along the second axis; with `same` there are windows over the ends."""
    if same:
        length = -(-x.shape[1] // stride)
        missing = max((length - 1) * stride + size - x.shape[1], 0)
        x = np.pad(x, [(0, 0), (missing // 2, missing - missing // 2), (0, 0)])
    starts = range(0, x.shape[1] - size + 1, stride)
    return np.stack([x[:, start : start + size].sum(axis=1) / size for start in starts], axis=1).astype(x.dtype)
