"""Randomness: named streams, the same bits everywhere."""

import os
import subprocess
import sys

import numpy as np

from cometfuzz.draw import Draw

INTEGERS = [76, 74, 38, 17, 86, 92]
UNIFORMS = [0.8551157379872042, 0.3104715501614833]
PROGRAM = """
from cometfuzz.catalogue.drawing import draw_graph
from cometfuzz.draw import Draw
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import case_id
print(case_id(Case(draw_graph(Draw(3), 25), 3)))
"""


def test_known_values() -> None:
    """Written down: a change here makes every recorded seed mean something else."""
    draw = Draw(1, "a")
    assert [draw.integer(0, 99) for _ in range(6)] == INTEGERS
    assert Draw(1, "a").uniforms((2,)).tolist() == UNIFORMS


def test_children_do_not_disturb_their_parent() -> None:
    one, other = Draw(5), Draw(5)
    one.child("x").integer(0, 10)
    assert one.fraction() == other.fraction()
    assert Draw(5).child("x").fraction() != Draw(5).child("y").fraction()
    assert Draw(1).fraction() != Draw("1").fraction()


def test_ranges() -> None:
    draw = Draw(2)
    assert {draw.integer(3, 5) for _ in range(200)} == {3, 4, 5}
    assert sorted(draw.shuffled(range(9))) == list(range(9))
    values = draw.bells((10_000,))
    assert abs(float(values.mean())) < 0.05
    assert abs(float(values.std()) - 1) < 0.05
    assert float(np.abs(values).max()) <= 3
    assert draw.uniforms((0, 3)).shape == (0, 3)


def test_the_hash_seed_does_not_matter() -> None:
    ids = {
        subprocess.run(
            [sys.executable, "-c", PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }
    assert len(ids) == 1
