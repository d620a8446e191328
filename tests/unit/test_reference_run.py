"""The reference runs graphs, and its bound tells a right answer from a wrong one."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from trials import chain

import cometfuzz.reference
from cometfuzz.catalogue import CATALOGUE
from cometfuzz.catalogue.data import NUMPY, Data, draw_data, to_array, to_tensor
from cometfuzz.catalogue.validate import assemble
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Draft, Edge, Inner, Params
from cometfuzz.ir.types import FLOATS
from cometfuzz.reference.bound import expect, judge, largest_excess
from cometfuzz.reference.call import MEANINGS, Array, Call, Freedom, summed
from cometfuzz.reference.run import narrow, run


def dense_case(dtype: str = "float32", units: int = 4) -> Case:
    drafts = [
        Draft("x", "input", {"dtype": dtype, "shape": (3, 5)}, ()),
        Draft("d", "Dense", {"units": units}, (Edge("x"),)),
    ]
    return Case(assemble(drafts, [Edge("d")]), rng_seed=11)


def utility_case(layer: str, params: dict[str, object], *, dtype: str = "float32", high: int | None = None) -> Case:
    source = Draft("x", "input", {"dtype": dtype, "shape": (2, 3, 1), "high": high}, ())
    return Case(assemble([source, Draft("u", layer, params, (Edge("x"),))], [Edge("u")]), 5)


def result_of(case: Case) -> np.ndarray:
    return run(case.graph, draw_data(case)).values[case.graph.outputs[0]]


@pytest.mark.parametrize("count", [16, 64, 300])
def test_the_bound_accepts_a_sum_of_equal_terms_one_by_one(count: int) -> None:
    """Terms that are alike are rounded alike: the errors of a long sum do not cancel."""
    case = chain((1, count), ("Dense", {"units": 1, "use_bias": False}))
    for value in (0.1, 0.3, 0.7, 1.1, 1.7, -0.9):
        data = Data({"x": np.full((1, count), value, "f4")}, {"n0": {"kernel": np.full((count, 1), 0.3, "f4")}})
        expected = expect(case.graph, data)[Edge("n0")]
        product = np.float32(value) * np.float32(0.3)
        seen = np.cumsum(np.full(count, product), dtype="f4")[-1:].reshape(1, 1)
        assert judge(expected, seen).ok
        assert not judge(expected, seen - product).ok, "a term is missing"


@pytest.mark.parametrize(
    ("equation", "left", "right", "count"),
    [
        ("ni,io->no", (2, 3), (3, 4), 3),
        ("...i,ijk->...jk", (5, 5, 2), (2, 3, 4), 2),
        ("abc,bcd->ad", (1, 2, 3), (2, 3, 4), 6),
    ],
)
def test_how_many_products_a_contraction_adds_up(
    equation: str, left: tuple[int, ...], right: tuple[int, ...], count: int
) -> None:
    assert summed(equation, np.ones(left), np.ones(right)) == count
    assert (np.einsum(equation, np.ones(left), np.ones(right)) == count).all()


def test_every_layer_and_utility_has_a_meaning() -> None:
    assert cometfuzz.reference.__doc__
    assert set(CATALOGUE) - set(MEANINGS) - {"input"} == {
        name for name, spec in CATALOGUE.items() if spec.kind == "cell" and name not in MEANINGS
    }


def test_dense_by_hand() -> None:
    case = dense_case("float64")
    data = draw_data(case)
    by_hand = data.inputs["x"] @ data.weights["d"]["kernel"] + data.weights["d"]["bias"]
    np.testing.assert_allclose(result_of(case), by_hand, rtol=1e-14)


@pytest.mark.parametrize("dtype", FLOATS)
def test_the_bound_accepts_a_rounded_answer_and_refuses_a_wrong_one(dtype: str) -> None:
    case = dense_case(dtype)
    expected = expect(case.graph, draw_data(case))[Edge("d")]
    right = narrow(expected.value, dtype)
    assert judge(expected, right).ok
    wrong = right.copy()
    wrong[1, 2] += wrong.dtype.type(0.25)
    assert not judge(expected, wrong).ok
    assert "[1, 2]" in judge(expected, wrong).detail
    assert not judge(expected, right[:, ::-1].copy()).ok
    assert not judge(expected, -right).ok
    assert not judge(expected, right[:2]).ok


def test_a_nan_is_not_excused() -> None:
    case = dense_case()
    expected = expect(case.graph, draw_data(case))[Edge("d")]
    seen = narrow(expected.value, "float32")
    seen[0, 0] = np.nan
    assert not judge(expected, seen).ok
    assert judge(replace(expected, range_limited=True), seen).ok


def test_sums_that_can_overflow_are_range_limited() -> None:
    case = dense_case("float16")
    data = draw_data(case)
    large = Data({"x": np.full((3, 5), 3e4, NUMPY["float16"])}, data.weights)
    assert expect(case.graph, large)[Edge("d")].range_limited
    assert not expect(case.graph, data)[Edge("d")].range_limited


def test_what_rounding_alone_may_carry_far_is_range_limited() -> None:
    """The value itself is below an eighth of the largest number, but not with its bound: Inf would be no evidence."""
    drafts = [
        Draft("x", INPUT, {"shape": (1, 1), "dtype": "float16"}, ()),
        Draft("e", "Activation", {"activation": "exponential"}, (Edge("x"),)),
    ]
    graph = assemble(drafts, [Edge("e")])
    for x, limited in ((8.0, False), (9.0, True)):
        expected = expect(graph, Data({"x": np.full((1, 1), x, NUMPY["float16"])}, {}))[Edge("e")]
        assert np.abs(expected.value).max() < 65504 / 8
        assert expected.range_limited == limited


def test_data_of_a_node_does_not_depend_on_the_others() -> None:
    one, more = dense_case(), dense_case()
    drafts = [*more.graph.drafts, Draft("e", "Dense", {"units": 2}, (Edge("d"),))]
    more = Case(assemble(drafts, [Edge("e")]), 11)
    np.testing.assert_array_equal(draw_data(one).weights["d"]["kernel"], draw_data(more).weights["d"]["kernel"])
    np.testing.assert_array_equal(draw_data(one).inputs["x"], draw_data(more).inputs["x"])


def test_overrides_are_used_bit_for_bit() -> None:
    case = dense_case("bfloat16")
    bias = np.arange(4).astype(NUMPY["bfloat16"])
    case = Case(case.graph, case.rng_seed, {"d/bias": to_tensor(bias)})
    np.testing.assert_array_equal(draw_data(case).weights["d"]["bias"], bias)
    assert to_array(to_tensor(bias)).dtype == NUMPY["bfloat16"]


def test_utilities() -> None:
    assert result_of(utility_case("pad", {"paddings": ((0, 0), (1, 2), (0, 0)), "value": 0.25}))[0, 0, 0] == 0.25
    assert result_of(utility_case("crop", {"crops": ((1, 0), (1, 1), (0, 0))})).shape == (1, 1, 1)
    assert result_of(utility_case("expand", {"axis": 1})).shape == (2, 1, 3, 1)
    assert result_of(utility_case("squeeze", {"axis": 2})).shape == (2, 3)
    assert result_of(utility_case("reshape", {"shape": (3, 2)})).shape == (3, 2)
    assert np.isnan(result_of(utility_case("special", {"value": "nan", "elements": "all"}))).all()
    assert np.isnan(result_of(utility_case("scale", {"value": "nan"}))).all()
    assert np.isinf(result_of(utility_case("scale", {"value": "-inf"}))).all()
    assert (result_of(utility_case("scale", {"value": "zero"})) == 0).all()
    first = result_of(utility_case("special", {"value": "-inf", "elements": "first"}))
    assert np.isneginf(first).sum() == 1
    integers = result_of(utility_case("cast", {"dtype": "int32", "high": 2}))
    assert set(np.unique(integers)) <= {0, 1}
    assert result_of(utility_case("cast", {"dtype": "bool"})).dtype == np.bool_


def test_a_cast_to_half_precision_rounds() -> None:
    case = utility_case("cast", {"dtype": "float16"})
    values = result_of(case)
    np.testing.assert_array_equal(values, draw_data(case).inputs["x"].astype(np.float16).astype(np.float64))


def test_a_step_excuses_what_is_near_it_and_nothing_else() -> None:
    drafts = [
        Draft("x", "input", {"dtype": "bfloat16", "shape": (1, 4)}, ()),
        Draft("r", "ThresholdedReLU", {"theta": 1.0}, (Edge("x"),)),
    ]
    graph = assemble(drafts, [Edge("r")])
    data = Data({"x": np.array([[0.5, 1.0, 1.0078125, 2.0]], NUMPY["bfloat16"])}, {})
    expected = expect(graph, data)[Edge("r")]
    assert expected.tied is not None
    assert expected.tied.tolist() == [[False, True, True, False]]
    either_side = np.array([[0.0, 1.0, 0.0, 2.0]], NUMPY["bfloat16"])
    assert judge(expected, either_side).ok
    assert largest_excess(expected, either_side) <= 1
    assert not judge(expected, np.array([[0.5, 1.0, 0.0, 2.0]], NUMPY["bfloat16"])).ok
    assert not judge(expected, np.array([[0.0, 1.0, 0.0, 0.0]], NUMPY["bfloat16"])).ok


def test_what_left_the_range_on_the_way_is_no_evidence() -> None:
    """Whether Inf or NaN comes of an overflow depends on the order of sums; of an Inf that was given it does not."""
    case = chain((1, 3), ("Activation", {"activation": "exponential"}), dtype="float64")
    (edge,) = case.graph.outputs
    seen = np.array([[1.0, np.nan, 1.0]])
    for given, right in ((1e4, True), (np.inf, False)):
        tensor = to_tensor(np.array([[0.0, given, 0.0]]))
        data = draw_data(replace(case, data={"x": tensor}))
        assert judge(expect(case.graph, data)[edge], seen).ok is right


@pytest.mark.parametrize(
    ("given", "seen", "right"),
    [(np.inf, np.nan, True), (np.inf, 0.0, False), (np.nan, 0.0, False), (np.nan, np.inf, False)],
)
def test_a_sum_with_an_inf_in_it_may_be_nan(given: float, seen: float, right: bool) -> None:
    """But it is not finite."""
    case = chain((1, 1, 1, 1), ("UpSampling2D", {"interpolation": "bilinear"}))
    (edge,) = case.graph.outputs
    data = draw_data(replace(case, data={"x": to_tensor(np.full((1, 1, 1, 1), given, np.float32))}))
    assert judge(expect(case.graph, data)[edge], np.full((1, 2, 2, 1), seen, np.float32)).ok is right


def test_zero_times_inf_may_be_left_out_but_nan_may_not() -> None:
    case = chain((1, 1), ("Dense", {}))
    (edge,) = case.graph.outputs
    zeros = {name: to_tensor(np.zeros(shape, np.float32)) for name, shape in (("n0/kernel", (1, 1)), ("n0/bias", (1,)))}
    for given, right in ((np.inf, True), (np.nan, False)):
        data = draw_data(replace(case, data={**zeros, "x": to_tensor(np.full((1, 1), given, np.float32))}))
        assert judge(expect(case.graph, data)[edge], np.zeros((1, 1), np.float32)).ok is right


@pytest.mark.parametrize(("implementation", "right"), [(1, False), (2, True), (3, True)])
def test_a_sparse_product_may_pass_over_nan(implementation: int, right: bool) -> None:
    """A locally connected layer of these implementations has a matrix with zeros for what is not connected."""
    case = chain((1, 2, 1), ("LocallyConnected1D", {"implementation": implementation}))
    (edge,) = case.graph.outputs
    data = draw_data(replace(case, data={"x": to_tensor(np.full((1, 2, 1), np.nan, np.float32))}))
    assert judge(expect(case.graph, data)[edge], np.zeros((1, 2, 1), np.float32)).ok is right
    finite = draw_data(case)
    assert not judge(expect(case.graph, finite)[edge], np.full((1, 2, 1), 99.0, np.float32)).ok


def test_nan_of_an_inf_depends_on_how_it_is_computed() -> None:
    """x * sigmoid(x) is -Inf * 0; x / (1 + exp(-x)) is -Inf / Inf; a table of limits says 0."""
    case = chain((1, 1), ("Activation", {"activation": "silu"}))
    (edge,) = case.graph.outputs
    data = draw_data(replace(case, data={"x": to_tensor(np.full((1, 1), -np.inf, np.float32))}))
    assert np.isnan(expect(case.graph, data)[edge].value).all()
    assert judge(expect(case.graph, data)[edge], np.zeros((1, 1), np.float32)).ok


@pytest.mark.parametrize(("activation", "right"), [("hard_shrink", True), ("relu", True), ("linear", False)])
def test_a_nan_that_an_inf_makes_may_hide_behind_a_comparison(activation: str, right: bool) -> None:
    """A convolution by channels that is made one over all of them multiplies an Inf by 0; hard_shrink(NaN) may be 0."""
    case = chain((1, 1, 1, 2), ("DepthwiseConv2D", {"activation": activation}))
    (edge,) = case.graph.outputs
    given = {
        "x": np.array([[[[np.inf, 0.0]]]], np.float32),
        "n0/depthwise_kernel": np.zeros((1, 1, 2, 1), np.float32),
        "n0/bias": np.array([0.0, 1.0], np.float32),
    }
    data = draw_data(replace(case, data={name: to_tensor(array) for name, array in given.items()}))
    assert judge(expect(case.graph, data)[edge], np.zeros((1, 1, 1, 2), np.float32)).ok is right


@pytest.mark.parametrize(("interpolation", "right"), [("lanczos5", True), ("bilinear", False)])
def test_a_weight_that_should_be_zero_may_make_much_of_an_inf(interpolation: str, right: bool) -> None:
    case = chain((1, 1, 2, 1), ("UpSampling2D", {"size": (2, 1), "interpolation": interpolation}))
    (edge,) = case.graph.outputs
    data = draw_data(replace(case, data={"x": to_tensor(np.array([[[[np.inf], [2.0]]]], np.float32))}))
    seen = np.array([[[[np.inf], [-np.inf]]] * 2], np.float32).reshape(1, 2, 2, 1)
    assert judge(expect(case.graph, data)[edge], seen).ok is right


@pytest.mark.parametrize(("groups", "right"), [(1, False), (2, True)])
def test_nan_may_get_from_group_to_group(groups: int, right: bool) -> None:
    case = chain((1, 1, 2, 2), ("Conv2D", {"filters": 2, "groups": groups}))
    (edge,) = case.graph.outputs
    given = np.array([[[[np.nan, 0.0], [0.0, 0.0]]]], np.float32)
    data = draw_data(replace(case, data={"x": to_tensor(given)}))
    expected = expect(case.graph, data)[edge]
    seen = expected.value.astype(np.float32)
    seen[0, 0, 0] = np.nan
    assert judge(expected, seen).ok
    seen[0, 0, 1, 1] = np.nan
    assert not judge(expected, seen).ok
    assert np.isnan(expected.value[0, 0, 0]).all() == (not right)


def test_the_logarithm_of_a_sum_near_one_is_all_error() -> None:
    """log_softmax of (0, 12): in float32 the sum of the exponentials is 1 + 6e-6, to within 6e-8."""
    case = chain((1, 2), ("Activation", {"activation": "log_softmax"}))
    (edge,) = case.graph.outputs
    given = np.array([[0.0, 12.0]], np.float32)
    expected = expect(case.graph, draw_data(replace(case, data={"x": to_tensor(given)})))[edge]
    shifted = given - np.float32(12.0)
    seen = shifted - np.log(np.exp(shifted).sum(dtype=np.float32))
    assert abs(seen[0, 1] / expected.value[0, 1] - 1) > 1e-4
    assert judge(expected, seen).ok


@pytest.mark.parametrize("last", [[], [("Embedding", {"input_dim": 8, "output_dim": 1, "dtype": "float16"})]])
def test_rounding_before_a_cast_may_make_another_integer(last: list[tuple[str, dict[str, object]]]) -> None:
    """2 * 0.7578125 + 0.48 is 1.995625, which bfloat16 holds as 2; XLA does not round it before the cast."""
    cast = ("cast", {"dtype": "int32", "high": 5})
    case = chain((1, 2), ("Rescaling", {"scale": 2.0, "offset": 0.48}), cast, *last, dtype="bfloat16")
    (edge,) = case.graph.outputs

    def verdict(given: float, seen: int) -> bool:
        data = draw_data(replace(case, data={"x": to_tensor(np.array([[given, 0.0]], NUMPY["bfloat16"]))}))
        expected = expect(case.graph, data)[edge]
        table = data.weights[edge.node]["embeddings"] if last else np.arange(8, dtype=np.int32)
        return judge(expected, table[[[seen, 0]]]).ok

    assert verdict(0.7578125, 1)
    assert verdict(0.7578125, 2)
    assert verdict(0.5, 1)
    assert not verdict(0.5, 2)


@pytest.mark.parametrize(("x", "right"), [(-0.000302, True), (-0.0302, False)])
def test_a_square_that_half_precision_hardly_holds_is_no_evidence(x: float, right: bool) -> None:
    case = chain((1, 2), ("UnitNormalization", {"axis": 0}), dtype="float16")
    (edge,) = case.graph.outputs
    data = draw_data(replace(case, data={"x": to_tensor(np.array([[1.0, x]], np.float16))}))
    expected = expect(case.graph, data)[edge]
    assert judge(expected, np.array([[1.0, -0.875]], np.float16)).ok == right
    assert judge(expected, np.array([[1.0, -1.0]], np.float16)).ok


@pytest.mark.parametrize(("x", "right"), [(5e29, True), (5.0, False)])
def test_a_variance_may_be_the_difference_of_two_squares_that_overflow(x: float, right: bool) -> None:
    case = chain((1, 2), ("GroupNormalization", {"groups": 2}))
    (edge,) = case.graph.outputs
    data = draw_data(replace(case, data={"x": to_tensor(np.array([[x, x]], np.float32))}))
    assert judge(expect(case.graph, data)[edge], np.array([[np.nan, np.nan]], np.float32)).ok == right


@pytest.mark.parametrize(("mean", "right"), [(100.0, True), (0.0, False)])
def test_a_variance_may_be_the_difference_of_two_squares_that_are_large(mean: float, right: bool) -> None:
    case = chain((1, 4), ("LayerNormalization", {"center": False, "scale": False, "epsilon": 1e-5}))
    (edge,) = case.graph.outputs
    x = np.array([[0.0625, -0.0625, 0.03125, -0.03125]], np.float32) + np.float32(mean)
    data = draw_data(replace(case, data={"x": to_tensor(x)}))
    variance = np.float32(0.0025)  # it is 0.0024
    seen = (x - x.mean()) / np.sqrt(variance + np.float32(1e-5))
    assert judge(expect(case.graph, data)[edge], seen).ok == right


def judged(case: Case, seen: list[Any], **given: list[Any]) -> bool:
    """Whether the one output may be what was seen; all in the dtype of the case."""
    (edge,) = case.graph.outputs
    dtype = NUMPY[case.graph.type_of(edge).dtype]
    data = draw_data(replace(case, data={name: to_tensor(np.array(value, dtype)) for name, value in given.items()}))
    return judge(expect(case.graph, data)[edge], np.array(seen, dtype)).ok


def test_what_is_below_the_normal_numbers_may_be_zero() -> None:
    case = chain((1, 2), ("Rescaling", {"scale": 1e6}))
    assert judged(case, [[0.0, 0.0]], x=[[1e-39, 1e-39]])
    assert not judged(case, [[0.0, 0.0]], x=[[1e-29, 1e-29]])
    masked = chain((1, 1, 1), ("Masking", {}), ("GlobalAveragePooling1D", {}))
    assert judged(masked, [[np.nan]], x=[[[1e-39]]])
    assert not judged(masked, [[np.nan]], x=[[[1e-29]]])


def test_what_is_below_the_normal_numbers_may_make_nan_of_inf() -> None:
    drafts = [Draft(name, "input", {"shape": (1, 1)}, ()) for name in "xyz"]
    product = Draft("p", "Multiply", {}, tuple(Edge(draft.id) for draft in drafts))
    case = Case(assemble([*drafts, product], [Edge("p")]), 1)
    assert judged(case, [[np.nan]], x=[[1e-30]], y=[[1e-10]], z=[[np.inf]])
    assert not judged(case, [[np.nan]], x=[[1e-10]], y=[[1e-10]], z=[[np.inf]])


@pytest.mark.parametrize(("x", "right"), [(20.5, True), (19.5, False)])
def test_a_softplus_may_be_linear_from_where_pytorch_says(x: float, right: bool) -> None:
    case = chain((1, 2), ("Activation", {"activation": "softplus"}), dtype="float64")
    assert judged(case, [[x, np.log(2)]], x=[[x, 0.0]]) == right


@pytest.mark.parametrize(("x", "right"), [(4e-7, True), (4e-6, False)])
def test_how_small_a_norm_counts_for_nothing_is_up_to_the_library(x: float, right: bool) -> None:
    unit = chain((1, 1), ("UnitNormalization", {}))
    assert judged(unit, [[0.4]], x=[[x]]) == right
    assert not judged(unit, [[np.nan]], x=[[0.0]])
    drafts = [
        Draft("x", "input", {"shape": (1, 1)}, ()),
        Draft("d", "Dot", {"axes": 1, "normalize": True}, (Edge("x"),) * 2),
    ]
    dot = Case(assemble(drafts, [Edge("d")]), 1)
    assert judged(dot, [[0.16]], x=[[x]]) == right
    assert not judged(dot, [[np.nan]], x=[[0.0]])


def test_a_weight_that_should_be_zero_makes_nan_of_nan() -> None:
    case = chain((1, 1, 3, 1), ("UpSampling2D", {"size": (1, 1), "interpolation": "bicubic"}))
    assert judged(case, [[[[1.0], [np.nan], [np.nan]]]], x=[[[[1.0], [1.0], [np.nan]]]])
    assert not judged(case, [[[[1.0], [np.nan], [1.0]]]], x=[[[[1.0], [1.0], [1.0]]]])


@pytest.mark.parametrize(("score", "right"), [(-1e11, True), (-1e3, False)])
def test_a_score_below_what_stands_for_a_masked_one_loses_against_it(score: float, right: bool) -> None:
    """The mask of two steps is taken for one of two features: of each row, the first counts."""
    case = chain((1, 2, 2), ("Masking", {}), ("Softmax", {}))
    given = [[[score, 1.0], [0.0, 0.0]]]
    assert judged(case, [[[1.0, 0.0], [1.0, 0.0]]], x=given)
    assert judged(case, [[[0.0, 0.0], [1.0, 0.0]]], x=given) == right


@pytest.mark.parametrize(("gap", "right"), [(1.0, True), (64.0, False)])
def test_where_rounding_decides_between_far_results_both_are_right(gap: float, right: bool) -> None:
    """2**24 and 2**24 + 1 are neighbours in float32: which of them a softmax takes for the larger is chance."""
    case = chain((1, 2), ("Activation", {"activation": "softmax"}))
    assert judged(case, [[1.0, 0.0]], x=[[2.0**24, 2.0**24 + 2 * gap]]) == right


@pytest.mark.parametrize("layer", ["Maximum", "Minimum"])
def test_an_extreme_may_drop_nan(layer: str) -> None:
    drafts = [Draft(name, "input", {"shape": (1, 2)}, ()) for name in "xy"]
    case = Case(assemble([*drafts, Draft("e", layer, {}, (Edge("x"), Edge("y")))], [Edge("e")]), 1)
    assert judged(case, [[1.0, 2.0]], x=[[np.nan, 2.0]], y=[[1.0, 2.0]])
    assert not judged(case, [[1.0, np.nan]], x=[[np.nan, 2.0]], y=[[1.0, 2.0]])


@pytest.mark.parametrize("layer", ["Attention", "MultiHeadAttention"])
def test_a_score_beside_nan_may_get_any_weight(layer: str) -> None:
    given = {"num_heads": 1, "key_dim": 1} if layer == "MultiHeadAttention" else {}
    source = Draft("x", "input", {"shape": (1, 2, 1)}, ())
    node = Draft("a", layer, {**given, "return_attention_scores": True}, (Edge("x"), Edge("x")))
    case = Case(assemble([source, node], [Edge("a", 1)]), 1)
    lone = [[np.nan, np.nan], [np.nan, 0.0]]
    assert judged(case, [lone] if layer == "Attention" else [[lone]], x=[[[np.nan], [1.0]]])
    assert not judged(case, [lone] if layer == "Attention" else [[lone]], x=[[[1.0], [1.0]]])


@pytest.mark.parametrize(("axis", "right"), [((1, 2), True), (-1, False)])
def test_a_over_several_axes_rounds_a_logarithm(axis: int | tuple[int, ...], right: bool) -> None:
    case = chain((1, 1, 1), ("Softmax", {"axis": axis}))
    assert judged(case, [[[1.00003]]], x=[[[1000.0]]]) == right
    assert not judged(case, [[[1.00003]]], x=[[[1.0]]])


def test_what_differs_from_a_mask_by_less_than_a_normal_number_may_be_masked() -> None:
    case = chain((1, 2, 1), ("Masking", {}), ("LSTM", {"units": 1, "return_sequences": True}))
    assert judged(case, [[[5.0], [5.0]]], x=[[[1.0], [1e-39]]])
    assert not judged(case, [[[5.0], [5.0]]], x=[[[1.0], [1e-29]]])


def test_the_largest_numbers_make_no_warning() -> None:
    case = chain((1, 1), ("Rescaling", {"scale": 1.0}), dtype="float64")
    assert judged(case, [[np.inf]], x=[[1.7976931348623157e308]])


def test_a_cast_of_exact_numbers_is_exact() -> None:
    case = chain((1, 2), ("cast", {"dtype": "int32", "high": 5}), dtype="bfloat16")
    (edge,) = case.graph.outputs
    data = draw_data(replace(case, data={"x": to_tensor(np.array([[2.0, np.nan]], NUMPY["bfloat16"]))}))
    expected = expect(case.graph, data)[edge]
    assert judge(expected, np.array([[2, 0]], np.int32)).ok
    assert not judge(expected, np.array([[1, 0]], np.int32)).ok


@pytest.mark.parametrize(
    ("dtype", "epsilon", "right"),
    [("float16", 1e-12, True), ("float16", 1e-3, False), ("bfloat16", 1e-12, False), ("float32", 1e-12, False)],
)
@pytest.mark.parametrize("layer", ["LayerNormalization", "RMSNormalization", "BatchNormalization"])
def test_an_epsilon_that_is_zero_in_the_dtype_keeps_nobody_from_dividing_by_zero(
    layer: str, dtype: str, epsilon: float, right: bool
) -> None:
    case = chain((2, 2), (layer, {"epsilon": epsilon}), dtype=dtype)
    (edge,) = case.graph.outputs
    given = np.array([[0.0, 0.0], [1.0, -1.0]], NUMPY[dtype])
    data = draw_data(replace(case, data={"x": to_tensor(given)}))
    weights = {name: np.ones_like(value) for name, value in data.weights[edge.node].items()}
    if layer == "BatchNormalization":
        weights["moving_variance"] = np.zeros_like(weights["moving_variance"])
    expected = expect(case.graph, replace(data, weights={edge.node: weights}))[edge]
    seen = narrow(expected.value, dtype)
    assert judge(expected, seen).ok
    seen[0, 0] = np.nan
    assert judge(expected, seen).ok == right
    seen[1, 1] = np.nan
    assert judge(expected, seen).ok == (right and layer == "BatchNormalization")


def test_what_rounding_takes_beyond_all_numbers_is_no_evidence_and_no_warning() -> None:
    drafts = [
        Draft("x", "input", {"dtype": "bfloat16", "shape": (1, 2)}, ()),
        Draft("e", "Activation", {"activation": "exponential"}, (Edge("x"),)),
    ]
    data = Data({"x": np.array([[708.0, 708.0]], NUMPY["bfloat16"])}, {})
    expected = expect(assemble(drafts, [Edge("e")]), data)[Edge("e")]
    assert judge(expected, np.array([[np.inf, 1.0]], NUMPY["bfloat16"])).ok
    assert expected.range_limited


@pytest.mark.parametrize(
    ("layer", "params"),
    [
        ("Activation", {"activation": "hard_shrink"}),
        ("Activation", {"activation": "soft_shrink"}),
        ("Activation", {"activation": "relu"}),
        ("Activation", {"activation": "hard_sigmoid"}),
        ("ReLU", {"threshold": 1.0}),
        ("ReLU", {}),
        ("LeakyReLU", {}),
        ("PReLU", {}),
        ("ELU", {}),
    ],
)
def test_nan_is_on_either_side_of_a_threshold(layer: str, params: dict[str, object]) -> None:
    """No library documents which; beside it, numbers are judged as ever."""
    case = chain((1, 2), (layer, params))
    (edge,) = case.graph.outputs
    data = draw_data(replace(case, data={"x": to_tensor(np.array([[np.nan, 3.0]], np.float32))}))
    expected = expect(case.graph, data)[edge]
    right = float(expected.value[0, 1])
    assert judge(expected, np.array([[0.0, right]], np.float32)).ok
    assert not judge(expected, np.array([[np.nan, right + 1]], np.float32)).ok


@pytest.mark.parametrize(("layer", "params"), [("Softmax", {}), ("Activation", {"activation": "softmax"})])
def test_what_a_softmax_gives_beside_nan_nobody_says(layer: str, params: dict[str, object]) -> None:
    """But NaN itself stays NaN, and rows without one are judged as ever."""
    case = chain((2, 2), (layer, params))
    (edge,) = case.graph.outputs
    data = draw_data(replace(case, data={"x": to_tensor(np.array([[np.nan, 3.0], [0.0, 0.0]], np.float32))}))
    expected = expect(case.graph, data)[edge]
    for row, other, right in (((np.nan, 0.0), 0.5, True), ((0.0, 0.0), 0.5, False), ((np.nan, 0.0), 0.4, False)):
        assert judge(expected, np.array([row, (0.5, other)], np.float32)).ok is right


@pytest.mark.parametrize(("slope", "seen", "right"), [(0.0, 0.0, True), (0.0, np.nan, True), (0.5, 0.0, False)])
def test_relu_of_minus_inf_is_nan_by_the_formula_and_zero_by_what_it_is_for(
    slope: float, seen: float, right: bool
) -> None:
    case = chain((1, 1), ("ReLU", {"negative_slope": slope}))
    (edge,) = case.graph.outputs
    data = draw_data(replace(case, data={"x": to_tensor(np.full((1, 1), -np.inf, np.float32))}))
    assert judge(expect(case.graph, data)[edge], np.full((1, 1), seen, np.float32)).ok is right


def test_squareplus_of_half_precision_overflows_on_the_way() -> None:
    case = chain((1, 1), ("Activation", {"activation": "squareplus"}), dtype="float16")
    (edge,) = case.graph.outputs
    for given, limited in ((300.0, True), (30.0, False)):
        data = draw_data(replace(case, data={"x": to_tensor(np.full((1, 1), given, np.float16))}))
        assert expect(case.graph, data)[edge].range_limited is limited


def test_an_overflow_inside_a_layer_may_become_anything() -> None:
    """tanh of a sum that left the range may have either sign."""
    case = chain((1, 2), ("Dense", {"units": 1, "activation": "tanh"}), dtype="float16")
    (edge,) = case.graph.outputs
    kernel = to_tensor(np.full((2, 1), 2.0, np.float16))
    for given, right in ((6e4, True), (6.0, False)):
        tensors = {"x": to_tensor(np.array([[given, -1.0]], np.float16)), "n0/kernel": kernel}
        expected = expect(case.graph, draw_data(replace(case, data=tensors)))[edge]
        assert judge(expected, np.array([[-1.0]], np.float16)).ok is right


def judged_toy(monkeypatch: pytest.MonkeyPatch, declare: Callable[[Call], None], seen: float, given: float) -> bool:
    """Whether an identity layer from outside, whose meaning declares something, may give what was seen."""

    def toy(call: Call) -> Array:
        declare(call)
        return call.x

    monkeypatch.setitem(CATALOGUE, "Toy", replace(CATALOGUE["Identity"], name="Toy", family="toy"))
    monkeypatch.setitem(MEANINGS, "Toy", toy)
    return judged(chain((1, 2), ("Toy", {})), [[seen, 1.0]], x=[[given, 1.0]])


@pytest.mark.parametrize(
    ("declared", "given", "seen", "right"),
    [
        ((), np.inf, np.nan, False),
        ((Freedom.SUM,), np.inf, np.nan, True),
        ((Freedom.SUM,), np.inf, 5.0, False),
        ((Freedom.SUM,), 2.0, np.nan, False),
        ((Freedom.COMPARISON,), np.inf, 5.0, False),
        ((Freedom.SUM, Freedom.COMPARISON), np.inf, 5.0, True),
        ((Freedom.SUM, Freedom.COMPARISON), 2.0, 5.0, False),
        ((), np.nan, 5.0, False),
        ((Freedom.WEIGHT,), np.nan, 5.0, True),
        ((Freedom.WEIGHT,), np.inf, 5.0, True),
        ((Freedom.WEIGHT,), 2.0, 5.0, False),
    ],
)
def test_the_judge_reads_what_a_meaning_leaves_to_the_library(
    monkeypatch: pytest.MonkeyPatch, declared: tuple[Freedom, ...], given: float, seen: float, right: bool
) -> None:
    def declare(call: Call) -> None:
        for freedom in declared:
            call.leave(freedom)

    assert judged_toy(monkeypatch, declare, seen, given) is right


@pytest.mark.parametrize(("distance", "right"), [(0.0, True), (1.0, False)])
def test_a_step_that_a_meaning_declares_is_tied(monkeypatch: pytest.MonkeyPatch, distance: float, right: bool) -> None:
    assert judged_toy(monkeypatch, lambda call: call.step(call.x - 2.0), 0.0, 2.0 + distance) is right


def test_a_number_that_a_meaning_gives_counts_as_given(monkeypatch: pytest.MonkeyPatch) -> None:
    def declare(call: Call) -> None:
        call.give(np.inf)
        call.leave(Freedom.SUM)

    assert judged_toy(monkeypatch, declare, np.nan, 2.0)
    assert not judged_toy(monkeypatch, lambda call: call.leave(Freedom.SUM), np.nan, 2.0)


def freedoms_of(case: Case, first: float) -> frozenset[Freedom]:
    """What the layers of a case leave to the library if its input begins with a number."""
    data = draw_data(case)
    inputs = {name: array.copy() for name, array in data.inputs.items()}
    for array in inputs.values():
        array.reshape(-1)[0] = first
    return run(case.graph, replace(data, inputs=inputs)).freedoms


@pytest.mark.parametrize(("strict", "freedoms"), [(False, {Freedom.SUM}), (True, set())])
def test_a_contraction_declares_its_sum(monkeypatch: pytest.MonkeyPatch, strict: bool, freedoms: set[Freedom]) -> None:
    monkeypatch.setitem(MEANINGS, "Identity", lambda call: call.contract("ni,ni->ni", call.x, call.x, strict=strict))
    case = chain((1, 2), ("Identity", {}))
    assert freedoms_of(case, np.inf) == freedoms
    assert freedoms_of(case, 1.0) == set()


@pytest.mark.parametrize(
    ("shape", "layer", "params", "freedoms"),
    [
        ((1, 2), "Rescaling", {}, set()),
        ((1, 2), "LayerNormalization", {}, {Freedom.SUM}),
        ((1, 2, 1), "AveragePooling1D", {}, {Freedom.SUM}),
        ((1, 2, 1), "MaxPooling1D", {}, set()),
        ((1, 2, 1), "TimeDistributed", {"layer": Inner("ReLU", Params())}, {Freedom.SUM}),
        ((1, 2, 2, 1), "UpSampling2D", {"interpolation": "nearest"}, {Freedom.SUM}),
        ((1, 2, 2, 1), "UpSampling2D", {"interpolation": "lanczos3"}, {Freedom.SUM, Freedom.WEIGHT}),
        ((1, 2), "Activation", {"activation": "relu6"}, {Freedom.COMPARISON}),
        ((1, 2), "Dense", {"units": 1, "activation": "relu"}, {Freedom.SUM, Freedom.COMPARISON}),
        ((1, 2, 1), "LSTM", {"units": 1, "activation": "relu"}, {Freedom.SUM, Freedom.COMPARISON}),
        ((1, 2, 1), "LSTM", {"units": 1, "recurrent_activation": "relu"}, {Freedom.SUM}),
    ],
)
def test_what_our_meanings_leave_to_the_library(
    shape: tuple[int, ...], layer: str, params: dict[str, object], freedoms: set[Freedom]
) -> None:
    case = chain(shape, (layer, params))
    assert freedoms_of(case, np.inf) == freedoms
    assert freedoms_of(case, 1.0) == set()
