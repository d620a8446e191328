"""Operators that move, repeat, join, cut and pick elements: what no function of NumPy says."""

import numpy as np
import pytest
from calling import output, outputs

from cometfuzz.catalogue.operators.blocks import letter_sizes
from cometfuzz.catalogue.validate import type_call
from cometfuzz.ir.graph import Edge, Node, Params
from cometfuzz.ir.types import TensorType
from cometfuzz.routes.calls import call_operator
from cometfuzz.triage.scripts.keras_code import operation

Written = tuple[str, dict[str, object], list[str], str]


def test_one_width_is_for_every_axis() -> None:
    x = np.ones((1, 2))
    for width in (1, (1,), ((1, 1),), ((1, 1), (1, 1))):
        assert output("ops.pad", x, pad_width=width).tolist() == [[0] * 4, [0, 1, 1, 0], [0] * 4]


def test_mirrored_elements() -> None:
    x = np.array([1.0, 2.0, 3.0])
    assert output("ops.pad", x, pad_width=((2, 1),), mode="reflect").tolist() == [3, 2, 1, 2, 3, 2]
    assert output("ops.pad", x, pad_width=((2, 1),), mode="symmetric").tolist() == [2, 1, 1, 2, 3, 3]


def test_the_trace_beside_the_diagonal() -> None:
    x = np.arange(12.0).reshape(3, 4)
    assert float(output("ops.trace", x, offset=1)) == 1 + 6 + 11
    assert float(output("ops.trace", x, offset=-1)) == 4 + 9
    assert float(output("ops.trace", x, offset=4)) == 0


def test_channels_are_blocks_first_wherever_they_are() -> None:
    """One pixel with channels 0 to 7: corner by corner, two channels each."""
    x = np.arange(8.0).reshape(1, 1, 1, 8)
    last = output("ops.depth_to_space", x, block_size=2)
    assert last[0, :, :, 0].tolist() == [[0, 2], [4, 6]]
    first = output("ops.depth_to_space", np.moveaxis(x, -1, 1), block_size=2, data_format="channels_first")
    assert np.array_equal(np.moveaxis(first, 1, -1), last)
    assert np.array_equal(output("ops.space_to_depth", last, block_size=2), x)


def test_columns_are_channels_then_places_of_the_window() -> None:
    x = np.arange(8.0).reshape(1, 2, 2, 2)
    columns = output("ops.unfold", x, kernel_size=(1, 2))
    assert columns[0].tolist() == [[0, 2], [1, 3], [4, 6], [5, 7]]
    padded = output("ops.unfold", x[:, :1], kernel_size=(2, 2), padding=(1, 1), stride=(2, 2))
    assert padded[0].tolist() == [[0, 0, 0, 3], [0, 0, 2, 0], [0, 1, 0, 0], [0, 0, 0, 0]]


def test_folded_windows_are_added_up() -> None:
    x = np.ones((1, 2, 2))
    assert output("ops.fold", x, kernel_size=(1, 2), output_size=(1, 3))[0, 0].tolist() == [[1, 2, 1]]
    x[0, 0, 0] = np.nan
    spread = output("ops.fold", x, kernel_size=(1, 2), output_size=(1, 3))[0, 0]
    assert np.isnan(spread).tolist() == [[True, False, False]], "expected a NaN where it belongs"


def test_groups_of_axes() -> None:
    x = np.arange(6.0).reshape(6, 1)
    split = output("ops.rearrange", x, pattern="(a b) c -> b (c a)", axes_lengths=(("a", 2),))
    assert split.tolist() == [[0, 3], [1, 4], [2, 5]]
    kind = TensorType("float32", (6, 1))
    for lengths in ((("a", 4),), (), (("a", 2), ("b", 2)), (("c", 1), ("a", 2))):
        assert letter_sizes(kind, Params({"pattern": "(a b) c -> b (c a)", "axes_lengths": lengths})) is None


def test_the_last_of_several_updates_counts() -> None:
    places, values = np.array([[3], [5], [3]], np.int32), np.array([1.0, 2.0, 4.0])
    x = np.full(100, 3.0)
    for reduction, at_3 in ((None, 4.0), ("add", 8.0), ("max", 4.0), ("min", 1.0), ("mul", 12.0)):
        assert output("ops.scatter_update", x, places, values, reduction=reduction)[3] == at_3
    assert output("ops.scatter", places, values, shape=(100,))[[3, 5, 6]].tolist() == [4, 2, 0]


def test_parts_of_several_sizes() -> None:
    x = np.arange(5.0)
    assert [part.tolist() for part in outputs("ops.split", x, indices_or_sections=(1, 1, 4))] == [
        *([0], [], [1, 2, 3], [4]),
    ]
    assert [len(part) for part in outputs("ops.array_split", x, indices_or_sections=3)] == [2, 2, 1]


def test_a_grid_of_xy_has_its_first_vector_along_the_second_axis() -> None:
    across, down = outputs("ops.meshgrid", np.arange(2.0), np.arange(3.0))
    assert across.tolist() == [[0, 1]] * 3
    assert down.tolist() == [[0, 0], [1, 1], [2, 2]]


KEY = (None, -1, "...", (None, 4, 2))
CALLS: list[Written] = [
    ("ops.get_item", {"key": KEY, "notation": "sign"}, ["x"], "x[None, -1, ..., :4:2]"),
    ("ops.get_item", {"key": (0,), "notation": "function"}, ["x"], "keras.ops.get_item(x, key=(0,))"),
    ("ops.stack", {"axis": 0}, ["x", "y"], "keras.ops.stack([x, y], axis=0)"),
    ("ops.select", {"default": 0}, ["a", "b", "x", "y"], "keras.ops.select([a, b], [x, y], default=0)"),
    (
        "ops.slice_update",
        {"start_indices": (1,)},
        ["x", "y"],
        "keras.ops.slice_update(x, updates=y, start_indices=(1,))",
    ),
    (
        *("ops.rearrange", {"pattern": "(a b) -> a b", "axes_lengths": (("a", 2),)}, ["x"]),
        'keras.ops.rearrange(x, pattern="(a b) -> a b", a=2)',
    ),
    (
        *("ops.image.scale_and_translate", {"scale": (2.0,), "translation": (0.0,)}, ["x"]),
        'keras.ops.image.scale_and_translate(x, scale=np.array((2.0,), dtype="float32"), '
        'translation=np.array((0.0,), dtype="float32"))',
    ),
]


@pytest.mark.parametrize(("layer", "params", "given", "text"), CALLS, ids=[text[:30] for *_, text in CALLS])
def test_how_calls_are_written(layer: str, params: dict[str, object], given: list[str], text: str) -> None:
    inputs = tuple(Edge(name) for name in given)
    assert operation(Node("n", layer, Params(params), inputs, ()), given) == text


def test_a_key_is_what_python_makes_of_it() -> None:
    x = np.arange(24).reshape(2, 3, 4)
    for notation in ("sign", "function"):
        node = Node("n", "ops.get_item", Params({"key": KEY, "notation": notation}), (Edge("x"),), ())

        class Ops:
            """Stands for keras.ops."""

            @staticmethod
            def get_item(x: np.ndarray, key: tuple[object, ...]) -> object:
                return x[key]  # type: ignore[index]

        assert np.array_equal(call_operator(Ops, node, [x]), x[None, -1, ..., :4:2])
    (kind,) = type_call("ops.get_item", (TensorType("float32", (2, 3, 4)),), Params({"key": KEY, "notation": "sign"}))
    assert isinstance(kind, TensorType)
    assert kind.shape == (1, 3, 2)
