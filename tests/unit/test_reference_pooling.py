"""Pooling in the reference, against loops over windows; and the rules of the pooling layers."""

import itertools
import math

import numpy as np
import pytest
from calling import Array, mask_after, numbers, output

from cometfuzz.catalogue import spec_of
from cometfuzz.ir.types import TensorType

REDUCE = {"Max": np.max, "Average": np.mean}


def by_loops(x: Array, kind: str, size: int, stride: int, same: bool) -> Array:
    """Pooling of (batch, ..., channels): every window by itself, cut off at the border."""
    spatial = x.shape[1:-1]
    places, starts = [], []
    for n in spatial:
        count = math.ceil(n / stride) if same else (n - size) // stride + 1
        before = max((count - 1) * stride + size - n, 0) // 2 if same else 0
        places.append(count)
        starts.append([i * stride - before for i in range(count)])
    y = np.empty((x.shape[0], *places, x.shape[-1]))
    for at in itertools.product(*map(range, places)):
        corner = [starts[axis][i] for axis, i in enumerate(at)]
        inside = tuple(slice(max(start, 0), min(start + size, n)) for start, n in zip(corner, spatial, strict=True))
        y[(slice(None), *at)] = REDUCE[kind](x[(slice(None), *inside)], axis=tuple(range(1, x.ndim - 1)))
    return y


@pytest.mark.parametrize("kind", ["Max", "Average"])
@pytest.mark.parametrize(
    ("size", "stride", "padding"), [(2, 2, "valid"), (3, 1, "same"), (4, 3, "same"), (2, 3, "valid")]
)
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_windows(kind: str, size: int, stride: int, padding: str, axes: int) -> None:
    x = numbers(2, *(5, 4, 4)[:axes], 3)
    expected = by_loops(x, kind, size, stride, padding == "same")
    layer = f"{kind}Pooling{axes}D"
    assert np.allclose(output(layer, x, pool_size=size, strides=stride, padding=padding), expected)
    first = output(
        layer,
        np.moveaxis(x, -1, 1),
        pool_size=size,
        strides=stride,
        padding=padding,
        data_format="channels_first",
    )
    assert np.allclose(np.moveaxis(first, 1, -1), expected)


def test_strides_default_to_the_pool() -> None:
    x = np.array([1.0, 5.0, 2.0, 3.0, 9.0]).reshape(1, 5, 1)
    assert output("MaxPooling1D", x).ravel().tolist() == [5.0, 3.0]
    assert output("AveragePooling1D", x, padding="same").ravel().tolist() == [3.0, 2.5, 9.0]


def test_an_empty_axis_stays_empty() -> None:
    assert output("MaxPooling2D", np.zeros((2, 0, 5, 3)), padding="same").shape == (2, 0, 3, 3)


@pytest.mark.parametrize("kind", ["Max", "Average"])
@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("keepdims", [False, True])
def test_everything(kind: str, axes: int, keepdims: bool) -> None:
    x = numbers(2, *(3, 4, 2)[:axes], 5)
    expected = REDUCE[kind](x, axis=tuple(range(1, axes + 1)), keepdims=keepdims)
    assert np.allclose(output(f"Global{kind}Pooling{axes}D", x, keepdims=keepdims), expected)
    first = output(
        f"Global{kind}Pooling{axes}D", np.moveaxis(x, -1, 1), keepdims=keepdims, data_format="channels_first"
    )
    assert np.allclose(np.moveaxis(first, 1, -1), expected)


def test_masked_steps_do_not_count() -> None:
    x, mask = numbers(2, 3, 4), np.array([[True, False, True], [False, False, False]])
    y = output("GlobalAveragePooling1D", x, masks=(mask,))
    assert np.allclose(y[0], (x[0, 0] + x[0, 2]) / 2)
    assert np.isnan(y[1]).all()
    assert mask_after("GlobalAveragePooling1D", x, masks=(mask,)) is None
    assert np.allclose(output("GlobalMaxPooling1D", x, masks=(mask,)), x.max(axis=1))


def test_a_mask_must_have_one_value_for_each_step() -> None:
    spec, masked = spec_of("GlobalAveragePooling1D"), TensorType("float32", (2, 3, 4), masked=True)
    assert spec.broken_rules([masked], spec.complete({"data_format": "channels_first"})) == [
        "mask has one value for each step"
    ]
    assert not spec.broken_rules([masked], spec.complete({}))


@pytest.mark.parametrize("kind", ["Max", "Average"])
@pytest.mark.parametrize("outputs", [1, 2, 3, 5, 7])
def test_adaptive_windows(kind: str, outputs: int) -> None:
    x = numbers(2, 5, 3)
    y = output(f"Adaptive{kind}Pooling1D", x, output_size=outputs)
    for i in range(outputs):
        window = x[:, math.floor(i * 5 / outputs) : math.ceil((i + 1) * 5 / outputs)]
        assert np.allclose(y[:, i], REDUCE[kind](window, axis=1))


def test_adaptive_pooling_to_the_same_size_changes_nothing() -> None:
    x = numbers(2, 3, 4, 5, 2)
    assert np.allclose(output("AdaptiveAveragePooling3D", x, output_size=(3, 4, 5)), x)
    y = output("AdaptiveMaxPooling2D", x[0], output_size=(2, 1), data_format="channels_first")
    assert np.array_equal(y[:, :, 0, 0], x[0][:, :, :3].max(axis=(2, 3)))


@pytest.mark.parametrize(
    ("layer", "shape", "rule"),
    [
        ("MaxPooling1D", (2, 1, 3), "pool fits"),
        ("GlobalMaxPooling2D", (2, 0, 1, 3), "input is not empty"),
        ("AdaptiveMaxPooling1D", (2, 0, 3), "there is something to pool"),
    ],
)
def test_rules(layer: str, shape: tuple[int, ...], rule: str) -> None:
    spec = spec_of(layer)
    assert spec.broken_rules([TensorType("float32", shape)], spec.complete({})) == [rule]
