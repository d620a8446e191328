"""What einsum, cross, correlate and tensordot mean, on examples computed by hand."""

from typing import Any

import numpy as np
import pytest
from calling import value

from cometfuzz.catalogue.operators.subscripts import are_subscripts, parse


@pytest.mark.parametrize(
    ("subscripts", "arrays", "wanted"),
    [
        ("ii->", [[[1, 2], [3, 4]]], 5),
        ("ii->i", [[[1, 2], [3, 4]]], [1, 4]),
        ("ji", [[[1, 2], [3, 4]]], [[1, 3], [2, 4]]),
        ("ij, j", [[[1, 2], [3, 4]], [1, 10]], [21, 43]),
        ("i...,i->i...", [[[1, 2], [3, 4]], [1, 10]], [[1, 2], [30, 40]]),
        ("i,j,k->k", [[1, 2], [1, 1], [1, 2]], [6, 12]),
    ],
)
def test_einsum_sums_over_letters_that_are_not_kept(subscripts: str, arrays: list[Any], wanted: Any) -> None:
    assert value("einsum", *arrays, subscripts=subscripts) == wanted


def test_an_output_that_is_not_said_has_its_letters_in_order() -> None:
    assert parse("c,ig").equation == "c,ig->cgi"
    assert parse("...ba").equation == "...ba->...ab"
    assert not are_subscripts("ij->ijk")
    assert not are_subscripts("...i->i")
    assert not are_subscripts("ij->ii")


def test_a_cross_product_of_two_numbers_is_the_third() -> None:
    assert value("cross", [1, 2], [3, 4]) == -2
    assert value("cross", [1, 0, 0], [0, 1]) == [0, 0, 1]
    assert value("cross", [[1], [0], [0]], [[0], [1], [0]], axis=0) == [[0], [0], [1]]


@pytest.mark.parametrize("mode", ["valid", "same", "full"])
@pytest.mark.parametrize(("n", "m"), [(5, 2), (5, 3), (2, 5), (3, 5), (4, 4), (1, 4), (4, 1)])
def test_a_correlation_is_that_of_numpy_also_if_the_second_is_longer(mode: Any, n: int, m: int) -> None:
    first, second = np.arange(1.0, n + 1), np.arange(2.0, m + 2)
    assert value("correlate", first, second, mode=mode) == np.correlate(first, second, mode).tolist()


def test_tensordot_sums_over_pairs_of_axes() -> None:
    assert value("tensordot", [[1, 2], [3, 4]], [[1, 0], [0, 1]], axes=((0, 1), (1, 0))) == 5
    assert value("tensordot", [1, 2], [3, 4], axes=0) == [[3, 4], [6, 8]]


def test_dot_keeps_all_axes_but_those_that_are_summed_over() -> None:
    left, right = np.ones((2, 3)), np.ones((4, 3, 5))
    assert np.shape(value("dot", left, right)) == (2, 4, 5)
