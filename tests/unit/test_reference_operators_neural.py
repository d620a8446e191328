"""What activations, normalisation, attention, losses and transforms as operators mean, by hand or by NumPy."""

import numpy as np
import pytest
from calling import value

from cometfuzz.reference.operators.spectral import waves


def test_attention_weighs_values_by_scores_that_are_allowed() -> None:
    query, key = np.zeros((1, 2, 1, 1)), np.zeros((1, 2, 1, 1))
    values = np.array([1.0, 3.0]).reshape(1, 2, 1, 1)
    assert np.ravel(value("dot_product_attention", query, key, values)).tolist() == [2, 2]
    assert np.ravel(value("dot_product_attention", query, key, values, is_causal=True)).tolist() == [1, 2]


def test_cross_entropies_of_logits() -> None:
    assert value("binary_crossentropy", [1.0], [0.0]) == pytest.approx([np.log(2)])
    loss = value("categorical_crossentropy", [[1.0, 0.0], [0.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]], axis=0)
    assert loss == pytest.approx([np.log(2)] * 2)


def test_a_softmax_over_all_axes_sums_to_one() -> None:
    assert np.sum(value("softmax", [[0.0, 1.0], [2.0, 3.0]], axis=None)) == pytest.approx(1.0)
    assert np.exp(value("log_softmax", [[0.0, 0.0], [0.0, 0.0]], axis=(1, 0))) == pytest.approx(0.25)


def test_a_threshold_is_not_kept_itself() -> None:
    assert value("threshold", [-1.0, 0.5, 1.0], threshold=0.5, default_value=7.0) == [7, 7, 1]


def test_the_two_forms_of_gelu_differ_a_little() -> None:
    exact, near = (value("gelu", [1.0], approximate=flag)[0] for flag in (False, True))
    assert exact == pytest.approx(0.8413447)
    assert near == pytest.approx(0.8411920)


def test_waves_are_exactly_zero_where_they_should_be() -> None:
    cos, sin = waves(4, 4, 4)
    assert cos.round(12).tolist() == cos.tolist()
    assert sin.round(12).tolist() == sin.tolist()


def test_irfft_is_that_of_numpy() -> None:
    real, imaginary = [1.0, 2.0, 3.0], [5.0, 6.0, 7.0]
    for length in (None, 3, 4, 7):
        wanted = np.fft.irfft(np.array(real) + 1j * np.array(imaginary), length)
        assert value("irfft", real, imaginary, fft_length=length) == pytest.approx(wanted)
