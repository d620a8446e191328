"""Bins, hashes and vocabularies in the reference; the numbers are those of Keras' documentation where it has some."""

import numpy as np
import pytest
from calling import numbers, output

from cometfuzz.reference.hashing import farm_hash, sip_hash


def test_bins_as_documented() -> None:
    x = np.array([[-1.5, 1.0, 3.4, 0.5], [0.0, 3.0, 1.3, 0.0]])
    assert output("Discretization", x, bin_boundaries=(0.0, 1.0, 2.0)).tolist() == [[0, 2, 3, 1], [1, 3, 2, 1]]


@pytest.mark.parametrize("shape", [(2, 3), (2, 1), (2, 3, 4)])
def test_bins_as_vectors(shape: tuple[int, ...]) -> None:
    x, bins = numbers(*shape), (-1.0, 0.5)
    indices = output("Discretization", x, bin_boundaries=bins)
    hot = np.eye(3)[indices]
    one_hot = output("Discretization", x, bin_boundaries=bins, output_mode="one_hot")
    assert np.array_equal(one_hot, hot[:, 0] if shape[-1] == 1 else hot)
    count = output("Discretization", x, bin_boundaries=bins, output_mode="count")
    assert np.array_equal(count, hot.sum(axis=-2))
    assert np.array_equal(output("Discretization", x, bin_boundaries=bins, output_mode="multi_hot"), count > 0)


def test_hashes_as_documented() -> None:
    letters = [letter.encode() for letter in "ABCDE"]
    assert [farm_hash(letter) % 3 for letter in letters] == [1, 0, 1, 1, 2]
    assert [sip_hash(letter, (133, 137)) % 3 for letter in letters] == [1, 2, 1, 0, 2]
    assert [sip_hash(letter, (133, 133)) % 3 for letter in letters] == [0, 0, 2, 1, 0]


def test_hashing_keeps_bin_0_for_the_mask() -> None:
    x = np.array([[0, 7, 12, 345, 67890]], np.int32)
    plain = output("Hashing", x, num_bins=4)
    assert plain.tolist() == [[farm_hash(str(token).encode()) % 4 for token in x[0]]]
    masked = output("Hashing", x, num_bins=5, mask_value=0)
    assert masked.tolist() == [[0, *(plain[0, 1:] + 1)]]
    assert output("Hashing", x, num_bins=1, mask_value=0).tolist() == [[0] * 5]


VOCABULARY = (12, 36, 74, 42)


def test_places_in_a_vocabulary_as_documented() -> None:
    x = np.array([[12, 74, 42], [42, 99, 36]], np.int32)
    assert output("IntegerLookup", x, vocabulary=VOCABULARY).tolist() == [[1, 3, 4], [4, 0, 2]]
    odd = np.array([[12, 74, 42], [37, 10, 36]], np.int32)
    assert output("IntegerLookup", odd, vocabulary=VOCABULARY, num_oov_indices=2).tolist() == [[2, 4, 5], [1, 0, 3]]
    places = np.array([[1, 3, 4], [4, 0, 2]], np.int32)
    inverse = output("IntegerLookup", places, vocabulary=VOCABULARY, invert=True)
    assert inverse.tolist() == [[12, 74, 42], [42, -1, 36]]


def test_a_mask_is_index_0_and_is_dropped_from_vectors() -> None:
    x, given = np.array([[5, 12, 5, 9]], np.int32), {"vocabulary": VOCABULARY, "mask_token": 5}
    assert output("IntegerLookup", x, **given).tolist() == [[0, 2, 0, 1]]
    assert output("IntegerLookup", x, output_mode="count", **given).tolist() == [[1, 1, 0, 0, 0]]
    padded = output("IntegerLookup", x, output_mode="count", max_tokens=7, pad_to_max_tokens=True, **given)
    assert padded.tolist() == [[1, 1, 0, 0, 0, 0, 0]]


def test_weights_of_tokens_as_documented() -> None:
    x = np.array([[12, 74, 42, 42], [42, 7, 36, 7]], np.int32)
    y = output("IntegerLookup", x, vocabulary=VOCABULARY, output_mode="tf_idf", idf_weights=(0.25, 0.75, 0.6, 0.4))
    assert np.allclose(y, [[0, 0.25, 0, 0.6, 0.8], [1.0, 0, 0.75, 0, 0.4]])
