"""Missed branches: each class on a module that is made for it, and what would reach the rest."""

import ast
import json
from pathlib import Path
from textwrap import dedent

import pytest

from cometfuzz.coverage.branches import Branches
from cometfuzz.errors import InvalidCampaign
from cometfuzz.evaluation.uncovered import (
    ELSEWHERE,
    ERROR,
    MISSED,
    TRAINING,
    UNREACHABLE,
    Source,
    area_grid,
    class_grid,
    gathered,
    missed,
    remedy_grid,
)

TEXT = dedent("""\
    class Base:
        def helper(self, x):
            if x.rank > 4:
                return 4
            return x

    class Dense(Base):
        def call(self, x, training=False):
            if training:
                x = x + 1
            if x.rank < 1:
                raise ValueError(x)
            for each in x.parts:
                x = self.helper(each)
            if backend() == "torch":
                return None
            return x

        def get_config(self):
            if self.name:
                return {}
            return {"name": 1}

    class Stranger:
        def call(self, x):
            if x:
                return 1
            return 2

    def nobody_calls_this(x):
        while x:
            x = x - 1
        return x
    """)
BRANCHES = [
    *((3, 4), (3, 5), (9, 10), (9, 11), (11, 12), (11, 13), (13, 14), (13, 15), (15, 16), (15, 17)),
    *((20, 21), (20, 22), (26, 27), (26, 28), (31, 32), (31, 33)),
]


def reached(*lines: int, branches: tuple[tuple[int, int], ...] = ()) -> Branches:
    report = {"digest": "d", "all": [len(BRANCHES), 30], "branches": [list(each) for each in branches]}
    return Branches.from_plain({"keras.src.layers.core.dense": {**report, "lines": list(lines)}})


SOURCE = Source("keras.src.layers.core.dense", ast.parse(TEXT), BRANCHES)
CALLED = reached(1, 2, 9, 11, 13, 15, 17, branches=((9, 11), (11, 13), (13, 15), (15, 17)))


def test_each_class_is_told_from_the_source() -> None:
    found = {(each.line, each.to): each for each in missed([SOURCE], CALLED)}
    kinds = {branch: each.kind for branch, each in found.items()}
    assert kinds == {
        (3, 4): MISSED,
        (3, 5): MISSED,
        (9, 10): TRAINING,
        (11, 12): ERROR,
        (13, 14): MISSED,
        (15, 16): ELSEWHERE,
        (20, 21): TRAINING,
        (20, 22): TRAINING,
        (26, 27): UNREACHABLE,
        (26, 28): UNREACHABLE,
        (31, 32): UNREACHABLE,
        (31, 33): UNREACHABLE,
    }
    assert found[13, 14].remedy == "each in x.parts has an element"
    assert (found[3, 4].entered, found[3, 4].remedy) == (False, "a call of Base.helper")
    assert found[11, 12].needs == "is true"
    helped = {(each.line, each.to): each for each in missed([SOURCE], reached(2, 3, 5, branches=((3, 5),)))}
    assert helped[3, 4].remedy == "x.rank > 4 is true"
    assert found[26, 27].function == "Stranger.call"


def test_a_class_that_is_named_where_calls_lead_is_reachable() -> None:
    text = TEXT.replace("self.helper(each)", "Stranger().call(each)")
    source = Source(SOURCE.name, ast.parse(text), BRANCHES)
    found = {(each.line, each.to): each.kind for each in missed([source], CALLED)}
    assert found[26, 27] == MISSED
    assert found[31, 32] == UNREACHABLE


def test_tables_add_up_and_name_what_would_reach_the_rest() -> None:
    found = missed([SOURCE], CALLED)
    columns, rows = class_grid(found, CALLED)
    assert [row[1] for row in rows] == ["4", "3", "1", "4", "1", "3", str(len(BRANCHES))]
    assert area_grid(found, CALLED)[1] == [["Keras layers.core", "4", "3", "1", "4", "1", "3"]]
    assert remedy_grid(found, 1)[1] == [["layers.core.dense.Base.helper", "2", "a call of Base.helper"]]
    assert len(columns) == 3


def test_runs_are_taken_together_and_strangers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidCampaign, match="expected runs with branches"):
        gathered(tmp_path)
    for name, branch in (("a", (9, 11)), ("b", (11, 13))):
        (tmp_path / name).mkdir()
        plain = reached(9, branches=(branch,)).to_plain()
        (tmp_path / name / "branches.json").write_text(json.dumps(plain))
    together, files = gathered(tmp_path)
    assert (together.branch_share.covered, len(files)) == (2, 2)
    (tmp_path / "b" / "branches.json").write_text('{"keras": 1}')
    with pytest.raises(InvalidCampaign, match="expected branches; received"):
        gathered(tmp_path)
