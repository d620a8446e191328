"""The meaning of convolutions, against naive loops and identities."""

import itertools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from calling import drawn_weights, make_call
from numpy.typing import NDArray

from cometfuzz.catalogue import spec_of
from cometfuzz.catalogue.convolution import connections
from cometfuzz.draw import Draw
from cometfuzz.reference.call import Call, evaluate
from cometfuzz.reference.convolution import convolve, padding_of

Array = NDArray[Any]


def draw(name: str, *shape: int) -> Array:
    return Draw("test", name, *shape).bells(shape)


def calling(layer: str, x: Array, **params: Any) -> Call:
    """A call of a layer on `x` with drawn weights."""
    return make_call(layer, x, weights=drawn_weights(layer, x, params), **params)


def run(call: Call) -> Array:
    (y,) = evaluate(call)
    assert y.shape == call.outputs[0].shape
    return y


def naive(x: Array, kernel: Array, strides: tuple[int, ...], dilation: tuple[int, ...], padding: str) -> Array:
    """A channels-last convolution, one product at a time."""
    axes = x.ndim - 2
    pairs = [
        padding_of(*axis, padding) for axis in zip(x.shape[1:-1], kernel.shape[:axes], strides, dilation, strict=True)
    ]
    padded = np.pad(x, [(0, 0), *pairs, (0, 0)])
    places = [
        (n - (k - 1) * d - 1) // s + 1
        for n, k, s, d in zip(padded.shape[1:-1], kernel.shape[:axes], strides, dilation, strict=True)
    ]
    y = np.zeros((x.shape[0], *places, kernel.shape[-1]))
    at: Any
    for at in itertools.product(*map(range, places)):
        for tap in itertools.product(*map(range, kernel.shape[:axes])):
            where: Any = tuple(a * s + t * d for a, s, t, d in zip(at, strides, tap, dilation, strict=True))
            y[:, *at] += padded[:, *where] @ kernel[tap]
    return y


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "dilation", "padding", "expected"),
    [
        (5, 3, 1, 1, "same", (1, 1)),
        (5, 2, 1, 1, "same", (0, 1)),
        (5, 3, 2, 1, "same", (1, 1)),
        (6, 3, 2, 1, "same", (0, 1)),
        (5, 1, 4, 1, "same", (0, 0)),
        (5, 3, 1, 4, "same", (4, 4)),
        (5, 3, 1, 2, "causal", (4, 0)),
        (5, 3, 1, 2, "valid", (0, 0)),
    ],
)
def test_padding(size: int, kernel: int, stride: int, dilation: int, padding: str, expected: tuple[int, int]) -> None:
    assert padding_of(size, kernel, stride, dilation, padding) == expected


def test_a_convolution_by_hand() -> None:
    call = calling("Conv1D", np.array([[[1.0], [2.0], [4.0], [8.0]]]), filters=1, kernel_size=2, use_bias=False)
    call.weights["kernel"][:] = np.array([10.0, 1.0]).reshape(2, 1, 1)
    assert run(call).ravel().tolist() == [12.0, 24.0, 48.0]


@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize(
    ("layer", "shape", "kernel", "strides", "dilation"),
    [
        ("Conv1D", (2, 7, 3), (3,), (2,), (1,)),
        ("Conv1D", (2, 7, 3), (2,), (1,), (3,)),
        ("Conv2D", (2, 6, 5, 3), (3, 2), (2, 1), (1, 1)),
        ("Conv2D", (2, 6, 5, 3), (3, 2), (1, 1), (2, 3)),
        ("Conv3D", (1, 4, 3, 5, 2), (2, 3, 1), (1, 2, 3), (1, 1, 1)),
    ],
)
def test_convolutions_agree_with_loops(
    layer: str,
    shape: tuple[int, ...],
    kernel: tuple[int, ...],
    strides: tuple[int, ...],
    dilation: tuple[int, ...],
    padding: str,
) -> None:
    params = {"kernel_size": kernel, "strides": strides, "dilation_rate": dilation, "padding": padding}
    call = calling(layer, draw("x", *shape), filters=4, **params)
    expected = naive(call.x, call.weights["kernel"], strides, dilation, padding) + call.weights["bias"]
    np.testing.assert_allclose(run(call), expected, atol=1e-12)


LAYOUTS: list[tuple[str, Mapping[str, Any]]] = [
    ("Conv2D", {"filters": 4, "kernel_size": 3, "padding": "same"}),
    ("Conv1D", {"filters": 4, "kernel_size": 3, "padding": "causal", "dilation_rate": 2}),
    ("Conv2D", {"filters": 4, "kernel_size": 2, "groups": 2}),
    ("DepthwiseConv2D", {"depth_multiplier": 3, "kernel_size": 2, "strides": 2}),
    ("SeparableConv1D", {"filters": 5, "depth_multiplier": 2, "kernel_size": 3}),
    ("Conv2DTranspose", {"filters": 3, "kernel_size": 3, "strides": 2, "padding": "same"}),
    ("Conv3DTranspose", {"filters": 2, "kernel_size": 2, "dilation_rate": 2}),
]


@pytest.mark.parametrize(("layer", "params"), LAYOUTS)
def test_channels_first_is_channels_last_moved(layer: str, params: Mapping[str, Any]) -> None:
    x = draw("x", 2, *(5, 4, 3)[: spec_of(layer).ranks[0] - 2], 4)
    last = run(calling(layer, x, **params))
    first = run(calling(layer, np.moveaxis(x, -1, 1), data_format="channels_first", **params))
    np.testing.assert_allclose(np.moveaxis(first, 1, -1), last, atol=1e-12)


def test_softmax_stays_on_the_last_axis() -> None:
    x = draw("x", 2, 3, 5)
    y = run(calling("Conv1D", x, filters=4, kernel_size=2, data_format="channels_first", activation="softmax"))
    np.testing.assert_allclose(y.sum(axis=-1), np.ones((2, 4)))


def test_causal_output_sees_no_later_input() -> None:
    x = draw("x", 1, 6, 2)
    params = {"filters": 3, "kernel_size": 3, "padding": "causal", "dilation_rate": 2}
    before = run(calling("Conv1D", x, **params))
    x[:, 4:] += 1.0
    after = run(calling("Conv1D", x, **params))
    assert np.array_equal(before[:, :4], after[:, :4])
    assert not np.isclose(before[:, 4:], after[:, 4:]).any()


def test_groups_are_convolutions_side_by_side() -> None:
    call = calling("Conv2D", draw("x", 2, 5, 5, 6), filters=4, kernel_size=3, groups=2, use_bias=False)
    kernel = call.weights["kernel"]
    halves = [
        naive(call.x[..., :3], kernel[..., :2], (1, 1), (1, 1), "valid"),
        naive(call.x[..., 3:], kernel[..., 2:], (1, 1), (1, 1), "valid"),
    ]
    np.testing.assert_allclose(run(call), np.concatenate(halves, axis=-1), atol=1e-12)


@pytest.mark.parametrize(
    ("layer", "shape", "params"),
    [
        ("DepthwiseConv1D", (2, 7, 3), {"strides": 2, "padding": "same"}),
        ("DepthwiseConv2D", (2, 6, 5, 3), {"dilation_rate": 2}),
    ],
)
def test_depthwise_outputs_stand_channel_by_channel(layer: str, shape: tuple[int, ...], params: Any) -> None:
    call = calling(layer, draw("x", *shape), kernel_size=2, depth_multiplier=2, **params)
    kernel, p = call.weights["depthwise_kernel"], call.params
    each = [
        naive(call.x[..., c : c + 1], kernel[..., c : c + 1, :], p.strides, p.dilation_rate, p.padding)
        for c in range(3)
    ]
    np.testing.assert_allclose(run(call), np.concatenate(each, axis=-1) + call.weights["bias"], atol=1e-12)


def test_a_separable_convolution_is_one_with_the_product_of_its_kernels() -> None:
    call = calling("SeparableConv2D", draw("x", 2, 6, 5, 3), filters=4, kernel_size=(3, 2), depth_multiplier=2)
    deep, mixer = call.weights["depthwise_kernel"], call.weights["pointwise_kernel"].reshape(3, 2, 4)
    whole = np.einsum("hwcm,cmf->hwcf", deep, mixer)
    expected = naive(call.x, whole, (1, 1), (1, 1), "valid") + call.weights["bias"]
    np.testing.assert_allclose(run(call), expected, atol=1e-12)


@pytest.mark.parametrize("output_padding", [None, 0, 1, 2])
@pytest.mark.parametrize("padding", ["valid", "same"])
@pytest.mark.parametrize("kernel", [1, 3, 5])
def test_a_transposed_convolution_is_the_adjoint_of_a_convolution(
    kernel: int, padding: str, output_padding: int | None
) -> None:
    """<conv(u), x> = <u, transposed(x)> for every u of the transposed convolution's output shape."""
    params = {"strides": 3, "padding": padding, "output_padding": output_padding, "use_bias": False}
    call = calling("Conv2DTranspose", draw("x", 2, 4, 3, 5), filters=2, kernel_size=kernel, **params)
    y = run(call)
    u = draw("u", *y.shape)
    forward = convolve(call, u, call.weights["kernel"], (3, 3), (1, 1), padding)
    assert forward.shape == call.x.shape
    np.testing.assert_allclose(np.vdot(forward, call.x), np.vdot(u, y), rtol=1e-10)


def test_a_dilated_transposed_convolution_by_hand() -> None:
    params = {"filters": 1, "kernel_size": 2, "dilation_rate": 3, "use_bias": False}
    call = calling("Conv1DTranspose", np.array([[[1.0], [2.0]]]), **params)
    call.weights["kernel"][:] = np.array([10.0, 1.0]).reshape(2, 1, 1)
    assert run(call).ravel().tolist() == [10.0, 20.0, 0.0, 1.0, 2.0]


def test_an_even_kernel_with_output_padding_loses_the_last_stride() -> None:
    params = {"filters": 1, "kernel_size": 2, "strides": 2, "padding": "same", "output_padding": 0}
    call = calling("Conv1DTranspose", np.ones((1, 3, 1)), use_bias=False, **params)
    call.weights["kernel"][:] = np.array([10.0, 1.0]).reshape(2, 1, 1)
    assert run(call).ravel().tolist() == [1.0, 10.0, 1.0, 10.0]


def test_an_even_kernel_can_leave_nothing() -> None:
    params = {"filters": 2, "kernel_size": 2, "padding": "same", "output_padding": 0}
    assert run(calling("Conv1DTranspose", np.ones((3, 1, 1)), **params)).shape == (3, 0, 2)


def test_connections_of_a_locally_connected_layer() -> None:
    assert connections(5, 2, 2, "valid") == [range(2), range(2, 4)]
    assert connections(5, 3, 2, "same") == [range(2), range(1, 4), range(3, 5)]
    assert connections(3, 2, 1, "same") == [range(1), range(2), range(1, 3)]


def _by_place(kernel: Array, place: int) -> Array:
    """Implementation 1: the kernel of one place, flat over window and channels."""
    return np.asarray(kernel[place])


def _by_mask(kernel: Array, place: int) -> Array:
    """Implementation 2: the connected part of a dense tensor (steps, channels, places, filters)."""
    return np.asarray(kernel[2 * place : 2 * place + 3, :, place].reshape(6, 4))


def _by_list(kernel: Array, place: int) -> Array:
    """Implementation 3: weights listed by output (place, filter), then by input (step, channel)."""
    return np.asarray(kernel.reshape(3, 4, 6)[place].T)


@pytest.mark.parametrize(("implementation", "at"), [(1, _by_place), (2, _by_mask), (3, _by_list)])
def test_locally_connected_has_a_kernel_at_each_place(implementation: int, at: Callable[[Array, int], Array]) -> None:
    params = {"filters": 4, "kernel_size": 3, "strides": 2, "implementation": implementation}
    call = calling("LocallyConnected1D", draw("x", 2, 7, 2), **params)
    expected = [
        call.x[:, 2 * place : 2 * place + 3].reshape(2, 6) @ at(call.weights["kernel"], place) for place in range(3)
    ]
    np.testing.assert_allclose(run(call), np.stack(expected, axis=1) + call.weights["bias"], atol=1e-12)


@pytest.mark.parametrize("implementation", [2, 3])
def test_locally_connected_with_ones_counts_connections(implementation: int) -> None:
    params = {"filters": 2, "kernel_size": (3, 2), "strides": (2, 1), "padding": "same", "use_bias": False}
    x = np.ones((1, 1, 5, 3))
    call = calling("LocallyConnected2D", x, implementation=implementation, data_format="channels_first", **params)
    call.weights["kernel"][:] = 1.0
    expected = np.multiply.outer([2.0, 3.0, 2.0], [1.0, 2.0, 2.0])
    np.testing.assert_array_equal(run(call)[0], np.stack([expected, expected]))


def test_empty_inputs_make_empty_outputs() -> None:
    for layer in ("Conv2D", "SeparableConv2D"):
        assert run(calling(layer, np.zeros((0, 5, 4, 2)), filters=3, kernel_size=2)).shape == (0, 4, 3, 3)
        empty = run(calling(layer, np.zeros((2, 5, 0, 2)), filters=3, kernel_size=2, strides=2, padding="same"))
        assert empty.shape == (2, 3, 0, 3)
