"""Plans: calls that cover what is missing, also where only few calls do."""

from dataclasses import replace

import pytest

from cometfuzz.catalogue import COUNTED, LAYERS
from cometfuzz.coverage.gain import Coverage, parameter_facts
from cometfuzz.coverage.layers import SPACES, Item, full_space, ops_space
from cometfuzz.draw import Draw
from cometfuzz.ir.types import TensorType
from cometfuzz.mutation.base import Guide, ModelLimits
from cometfuzz.mutation.dialect import usual_dialects
from cometfuzz.search.placing import alone
from cometfuzz.search.planning import PlannedCall, followed, plan
from cometfuzz.search.strategies import Avoided

TRIES = 40


def guide() -> Guide:
    return Guide([Coverage(space()) for space in SPACES])


def limits() -> ModelLimits:
    return replace(ModelLimits(), dialect=usual_dialects().modern.lenient)


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("ops.batch_normalization", TensorType("float32", (2, 3, 5))),  # mean and variance have the size of an axis
        ("ops.segment_sum", TensorType("float16", (4, 3))),  # and a segment for each row
        ("ops.where", TensorType("bool", (2, 5))),  # another dtype beside it
        ("Dot", TensorType("float32", (2, 4, 3))),
    ],
)
def test_what_is_read_besides_goes_with_a_tensor_as_it_is(name: str, first: TensorType) -> None:
    found = [followed(COUNTED[name], first, guide(), Draw(name, index), limits()) for index in range(TRIES)]
    calls = [call for call in found if call is not None]
    assert calls
    assert all(call.types[0] == first and call.spec.accepts(call.types, call.params) for call in calls)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("ops.abs", "ops.slogdet"),  # a square matrix
        ("ops.negative", "ops.depth_to_space"),  # channels that make blocks
        ("ops.sign", "ops.in_top_k"),  # scores, which are its second input
        ("ops.image.sobel_edges", "ops.dot"),  # a rank that is never drawn of what follows
    ],
)
def test_a_layer_is_led_to_what_the_next_one_takes(before: str, after: str) -> None:
    item = Item("sequences", before, "before", after)
    found = next(filter(None, (plan(item, guide(), Draw(index), limits(), 200) for index in range(4))), None)
    assert found is not None
    assert [call.spec.name for call in found] == [before, after]
    assert found[1].types[found[1].at] == found[0].output
    assert alone(found) is not None


@pytest.mark.parametrize("item", [Item("inputs", "Dot", "rank", "6"), Item("inputs", "ops.inner", "rank", "5")])
def test_a_rank_that_is_never_drawn_is_planned_for(item: Item) -> None:
    found = next(filter(None, (plan(item, guide(), Draw(index), limits()) for index in range(TRIES))), None)
    assert found is not None
    assert str(found[0].types[0].rank) == item.value


def test_a_plan_that_no_input_can_feed_is_no_graph() -> None:
    spec = COUNTED["ops.abs"]
    assert alone((PlannedCall(spec, (TensorType("float32", (1,) * 9),), spec.complete({})),)) is None


def test_only_integers_have_a_bound() -> None:
    spec = COUNTED["ops.cast"]
    (seen,) = spec.outputs([TensorType("int32", (2, 3), high=2)], spec.complete({"dtype": "float16"}))
    assert (seen.dtype, seen.high) == ("float16", None)


def test_sequences_that_bounds_forbid_are_out_of_reach() -> None:
    space = ops_space()
    reason = "it takes integers with a bound only"
    assert space.unreachable[Item("sequences", "ops.bitwise_invert", "before", "ops.add")] == reason
    assert Item("sequences", "ops.add", "before", "ops.bitwise_invert") not in space.unreachable
    assert set(full_space().unreachable.values()) == {reason}


def test_the_rank_of_a_result_is_one_that_it_can_have() -> None:
    for spec in COUNTED.values():
        for index in range(12):
            draw = Draw("ranks", spec.name, index)
            types = spec.inputs(draw)
            params = spec.draw_params(draw, types)
            assert params is None or spec.outputs(types, params)[0].rank in spec.output_ranks, spec.name


def test_what_is_claimed_or_covered_meanwhile_is_gone_for_no_more() -> None:
    """A guide remembers what is open of a layer, until something becomes of it."""
    coverage, avoided, spec = Coverage(full_space()), Avoided(), LAYERS["Activation"]
    asked, types = Guide([coverage], avoided), (TensorType("float32", (2, 3)),)

    def drawn(*numbers: int) -> set[str]:
        params = [asked.draw_params(spec, types, Draw("open", number), ModelLimits()) for number in numbers]
        return {each.activation for each in params if each is not None}

    options = spec.params["activation"].options() or ()
    facts = {value: parameter_facts(spec.name, "activation", value) for value in options}
    assert len(drawn(*range(20))) > 5
    avoided.claim(fact for value in options if value not in ("relu", "tanh") for fact in facts[value])
    assert drawn(*range(20)) == {"relu", "tanh"}
    coverage.add(facts["relu"])
    assert drawn(*range(20)) == {"tanh"}
    avoided.release(facts["elu"], failed=False)
    assert drawn(*range(20)) == {"tanh", "elu"}
