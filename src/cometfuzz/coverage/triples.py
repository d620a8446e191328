"""Triples: which values of three factors of a named group have been executed together.

Any three factors of a call would be too many, and most of them have nothing to do with each other. So what acts
together in a layer's code is declared here as a group, by the names of parameters: a new layer joins by itself.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from cometfuzz.coverage.combinations import CombinationCoverage, CombinationSpace
from cometfuzz.coverage.factors import DATA, DTYPE, RANK, REST, SHAPE, STEP, WINDOW, WINDOWS, Factor
from cometfuzz.coverage.rows import COVERED, GIVEN_UP_AFTER

TRIPLES = "triples"


@dataclass(frozen=True)
class Group:
    """Factors that act together; any three of them that a layer has are counted.

    marks: a layer belongs to the group if it has one of these factors, since a name such as `padding` or `groups` means
    something else elsewhere.
    """

    name: str
    marks: tuple[str, ...]
    factors: tuple[str, ...]


GROUPS = (
    Group("inputs", (DTYPE,), (DTYPE, SHAPE, DATA)),
    Group(
        "windows",
        WINDOWS,
        (
            *WINDOWS,
            *("padding", "strides", "dilation_rate", "data_format", "groups", "depth_multiplier", "output_padding"),
            *(WINDOW, STEP, REST),
        ),
    ),
    Group("adaptive windows", ("output_size",), ("output_size", "data_format", DTYPE, SHAPE)),
    Group(
        "recurrence",
        ("go_backwards",),
        (
            *("return_sequences", "return_state", "go_backwards", "stateful", "unroll", "use_bias", "reset_after"),
            *("zero_output_for_mask", DTYPE),
        ),
    ),
    Group(
        "attention",
        ("use_causal_mask",),
        (
            *("use_scale", "score_mode", "return_attention_scores", "use_causal_mask", "attention_mask", "use_gate"),
            *("sliding_window", "num_heads", "key_dim", "value_dim", "head_dim", "num_query_heads"),
            *("num_key_value_heads", "use_bias", RANK),
        ),
    ),
    Group("normalisation", ("epsilon",), ("axis", "groups", "epsilon", "center", "scale", DTYPE, RANK, DATA)),
    Group(
        "resizing",
        ("interpolation",),
        (
            *("interpolation", "size", "height", "width", "data_format", "antialias", "crop_to_aspect_ratio"),
            *("pad_to_aspect_ratio", DTYPE),
        ),
    ),
    Group(
        "spectra",
        ("fft_length",),
        (
            *("mode", "frame_length", "frame_step", "fft_length", "padding", "expand_dims", "data_format", "window"),
            *("sequence_stride", "sequence_length", "power_to_db", "mag_exp"),
        ),
    ),
    Group(
        "tables",
        ("output_mode", "mask_zero"),
        (
            *(
                "output_mode",
                "num_oov_indices",
                "mask_token",
                "mask_value",
                "invert",
                "max_tokens",
                "oov_method",
                "salt",
            ),
            *("pad_to_max_tokens", "mask_zero", "tie_weights", "reverse", "logit_soft_cap", "num_tokens", "num_bins"),
        ),
    ),
    Group("activation", ("max_value",), ("max_value", "negative_slope", "threshold", DTYPE, DATA)),
)


def _chosen(factors: Sequence[Factor]) -> Iterator[tuple[int, ...]]:
    """The places of three factors that some group has, each three once."""
    found: dict[tuple[int, ...], None] = {}
    names = [factor.name for factor in factors]
    for group in GROUPS:
        if any(mark in names for mark in group.marks):
            places = [place for place, name in enumerate(names) if name in group.factors]
            found |= dict.fromkeys(combinations(places, 3))
    return iter(found)


@cache
def triple_space() -> CombinationSpace:
    """The space; it is made when somebody asks for the first time."""
    return CombinationSpace(TRIPLES, _chosen)


class TripleCoverage(CombinationCoverage):
    """Which triples have executed, and how often one that was gone for could not be planned, or failed."""

    def __init__(self) -> None:
        super().__init__(triple_space())

    def rule_out(self, layer: str, pairs: CombinationCoverage) -> None:
        """Give up the triples of a layer that contain a pair that was given up: they need not be searched for."""
        table, given_up = self.space.tables[layer], _given_up(layer, pairs)
        for block in table.blocks:
            stop = block.start + int(np.prod(block.sizes))
            part = self.state[block.start : stop].reshape(block.sizes)
            names = [table.factors[place].name for place in block.places]
            for one, two in combinations(range(3), 2):
                lost = given_up.get((names[one], names[two]))
                if lost is not None:
                    shape = [size if axis in (one, two) else 1 for axis, size in enumerate(block.sizes)]
                    part[lost.reshape(shape) & (part != COVERED)] = GIVEN_UP_AFTER


def _given_up(layer: str, pairs: CombinationCoverage) -> dict[tuple[str, str], NDArray[np.bool_]]:
    """For each two factors of a layer of which some values cannot be together: which."""
    table = pairs.space.tables[layer]
    found = {}
    for block in table.blocks:
        one, two = (table.factors[place].name for place in block.places)
        part = pairs.state[block.start : block.start + block.sizes[0] * block.sizes[1]]
        if (lost := part == GIVEN_UP_AFTER).any():
            found[one, two] = lost.reshape(block.sizes)
    return found
