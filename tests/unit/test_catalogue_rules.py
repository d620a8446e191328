"""Rules judge whatever they are asked about: a call that makes no sense is invalid, it does not raise."""

import pytest
from naming import about, by_family

from cometfuzz.catalogue.spec import CATALOGUE, LayerSpec
from cometfuzz.catalogue.validate import type_call
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import INPUT
from cometfuzz.ir.types import TensorType

DTYPES = ("float32", "float16", "bool", "int32")


def any_type(draw: Draw) -> TensorType:
    return TensorType(draw.choice(DTYPES), tuple(draw.integer(0, 4) for _ in range(draw.integer(1, 6))))


FAMILIES = by_family({name: spec for name, spec in CATALOGUE.items() if name != INPUT})


@pytest.mark.parametrize("names", FAMILIES.values(), ids=FAMILIES)
def test_no_rule_raises(names: list[str]) -> None:
    """The parameters of one call on the inputs of another, some of them of any type, and as many as may be."""
    for name in names:
        with about(name):
            for index in range(40):
                typed_or_refused(CATALOGUE[name], Draw(11, name, index))


def typed_or_refused(spec: LayerSpec, draw: Draw) -> None:
    types = spec.inputs(draw)
    params = spec.draw_params(draw, types)
    if params is None:
        return
    count = draw.integer(max(spec.arity[0], 1), min(spec.arity[1], 4))
    given = tuple(any_type(draw) if draw.chance(0.6) else types[slot % len(types)] for slot in range(count))
    result = type_call(spec.name, given, params)
    assert isinstance(result, list) or all(isinstance(kind, TensorType) for kind in result)
