"""What strategies make of seed 1 is what it was: a change that only moves code leaves every id as it is.

`experiments/same_cases.py` writes the golden file, and compares a campaign with libraries as well.
"""

import json
from pathlib import Path

import pytest

from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import case_id
from cometfuzz.mutation.base import ModelLimits
from cometfuzz.search.rehearsal import rehearse
from cometfuzz.search.strategies import Options, make_strategy
from cometfuzz.seeds.small import SMALL

GOLDEN = json.loads((Path(__file__).parent / "same-cases.json").read_text())


@pytest.mark.parametrize("strategy", ["comet", "directed", "odd"])
def test_the_cases_of_a_strategy_are_the_same(strategy: str) -> None:
    ids: list[str] = []

    def note(case: Case) -> None:
        ids.append(case_id(case))

    made = make_strategy(strategy, Options(1, [make() for make in SMALL.values()], ModelLimits()))
    rehearse(made, len(GOLDEN[strategy]), note)
    assert ids == GOLDEN[strategy]
