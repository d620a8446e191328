"""Rules judge whatever they are asked about: a call that makes no sense is invalid, it does not raise."""

import pytest

from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.catalogue.validate import type_call
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import INPUT
from cometfuzz.ir.types import TensorType

DTYPES = ("float32", "float16", "bool", "int32")


def any_type(draw: Draw) -> TensorType:
    return TensorType(draw.choice(DTYPES), tuple(draw.integer(0, 4) for _ in range(draw.integer(1, 6))))


@pytest.mark.parametrize("name", [name for name in CATALOGUE if name != INPUT])
def test_no_rule_raises(name: str) -> None:
    """The parameters of one call on the inputs of another, some of them of any type, and as many as may be."""
    spec = CATALOGUE[name]
    for index in range(40):
        draw = Draw(11, name, index)
        types = spec.inputs(draw)
        params = spec.draw_params(draw, types)
        if params is None:
            continue
        count = draw.integer(max(spec.arity[0], 1), min(spec.arity[1], 4))
        given = tuple(any_type(draw) if draw.chance(0.6) else types[slot % len(types)] for slot in range(count))
        result = type_call(name, given, params)
        assert isinstance(result, list) or all(isinstance(kind, TensorType) for kind in result)
