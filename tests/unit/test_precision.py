"""Dtype policies: what a layer computes in, what its weights are, and what is cast on the way."""

from itertools import product

import numpy as np
import pytest
from bugs import bug, finding
from naming import about, by_family
from test_triage_reduce import names, reduced
from trials import chain

from cometfuzz.catalogue import LAYERS
from cometfuzz.catalogue.data import Data, draw_data
from cometfuzz.catalogue.drawing import draw_layer, draw_precise
from cometfuzz.catalogue.files import decode
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.catalogue.validate import assemble, validate
from cometfuzz.coverage.gain import facts_of
from cometfuzz.coverage.layers import full_space
from cometfuzz.errors import InvalidCase
from cometfuzz.execution.versions import usual_view
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import case_id, encode
from cometfuzz.ir.graph import INPUT, Draft, Edge, Graph
from cometfuzz.ir.types import POLICIES, POLICY
from cometfuzz.mutation.base import ModelLimits
from cometfuzz.mutation.change_precision import mixed
from cometfuzz.reference.bound import expect, judge
from cometfuzz.reference.run import run
from cometfuzz.routes.calls import policy
from cometfuzz.triage.reproducer import make_script

MIXED = {POLICY: "mixed_float16"}
MODEL = chain((2, 3), ("Dense", {"units": 4, **MIXED}), ("ReLU", {}), ("Dense", {"units": 2, **MIXED}))


def one(layer: str, dtypes: list[str], **params: object) -> Graph:
    """A layer on inputs of shape (2, 3) and these dtypes."""
    drafts = [
        Draft(f"x{i}", INPUT, {"dtype": dtype, "shape": (2, 3), "high": 4 if dtype == "int32" else None}, ())
        for i, dtype in enumerate(dtypes)
    ]
    edges = tuple(Edge(draft.id) for draft in drafts)
    return assemble([*drafts, Draft("layer", layer, params, edges)], [Edge("layer")])


def computed(graph: Graph, weights: dict[str, np.ndarray] | None = None, **inputs: object) -> np.ndarray:
    data = Data({name: np.asarray(value) for name, value in inputs.items()}, {"layer": weights} if weights else {})
    return run(graph, data).values[Edge("layer")]


def test_a_mixed_layer_keeps_float32_weights_and_returns_float16() -> None:
    assert [node.outputs[0].dtype for node in MODEL.graph.nodes] == ["float32", "float16", "float16", "float16"]
    assert {array.dtype.name for weights in draw_data(MODEL).weights.values() for array in weights.values()} == {
        "float32"
    }
    assert [policy(MODEL.graph, node) for node in MODEL.graph.nodes[1:]] == [
        "mixed_float16",
        "float16",
        "mixed_float16",
    ]


def test_inputs_and_weights_are_rounded_to_the_dtype_of_the_policy() -> None:
    x, kernel = np.array([[1 + 2**-13, 0, 0]] * 2, np.float32), np.full((3, 1), 1 + 2**-12, np.float32)
    weights = {"kernel": kernel, "bias": np.zeros(1, np.float32)}
    assert computed(one("Dense", ["float32"], units=1), weights, x0=x)[0, 0] > 1 + 2**-12
    assert computed(one("Dense", ["float32"], units=1, **MIXED), weights, x0=x)[0, 0] == 1


def test_a_layer_that_does_not_autocast_sees_what_float16_cannot_hold() -> None:
    x = np.array([[1e5, 2e5, 3e5]] * 2, np.float32)
    weights = {"gamma": np.ones(3, np.float32), "beta": np.zeros(3, np.float32)}
    normalised = computed(one("LayerNormalization", ["float32"], **MIXED), weights, x0=x)
    assert np.allclose(normalised[0], [-1.2247, 0, 1.2247], atol=1e-3)
    assert np.isinf(computed(one("ReLU", ["float32"], **MIXED), x0=x)).all()


def test_the_bound_has_the_roundoff_of_the_dtype_in_which_a_layer_computes() -> None:
    graph = one("Dense", ["float32"], units=1, **MIXED)
    data = draw_data(Case(graph, 3))
    expected = expect(graph, data)[Edge("layer")]
    near = (expected.value * (1 + 2**-11)).astype(np.float16)
    assert judge(expected, near).ok
    assert not judge(expected, (expected.value * 1.1 + 0.1).astype(np.float16)).ok


def test_floats_of_several_dtypes_and_integers_meet_in_the_dtype_of_the_policy() -> None:
    graph = one("Add", ["float16", "float32", "int32"], policy="float32")
    assert graph.by_id["layer"].outputs[0].dtype == "float32"
    total = computed(graph, x0=np.ones((2, 3), np.float16), x1=np.full((2, 3), 0.5, np.float32), x2=[[3, 2, 1]] * 2)
    assert total[0].tolist() == [4.5, 3.5, 2.5]
    assert computed(one("Dense", ["bool"], units=1, policy="float16"), {"kernel": np.ones((3, 1), np.float16)}
                    | {"bias": np.zeros(1, np.float16)}, x0=[[True, True, False]] * 2)[0, 0] == 2  # fmt: skip


@pytest.mark.parametrize(
    ("layer", "dtypes", "params", "rule"),
    [
        ("Dense", ["float64"], {"units": 1, **MIXED}, "no double rounding"),
        ("Dense", ["int32"], {"units": 1}, "dtype"),
        ("ReLU", ["int32"], MIXED, "dtype"),
        ("Add", ["int32", "int32"], {POLICY: "float32"}, "of integers alone it makes integers"),
        ("Add", ["float32", "float16"], {}, "inputs have one dtype"),
        ("cast", ["float32"], {"dtype": "float16", **MIXED}, "the layer takes a policy"),
        ("ThresholdedReLU", ["float32"], MIXED, "the layer takes a policy"),
        ("Embedding", ["int32"], {"input_dim": 4, **MIXED}, "the policy's dtype is the layer's"),
        ("Dense", ["float32"], {"units": 1, POLICY: "mixed_float8"}, "value of policy"),
    ],
)
def test_what_a_policy_cannot_mean_is_refused(layer: str, dtypes: list[str], params: dict, rule: str) -> None:
    with pytest.raises(InvalidCase, match=rule):
        one(layer, dtypes, **params)


def test_without_a_policy_nothing_is_stored() -> None:
    plain = chain((2, 3), ("Dense", {"units": 4}))
    assert b"policy" not in encode(plain)
    named = chain((2, 3), ("Dense", {"units": 4, POLICY: None}))
    assert case_id(named) == case_id(plain)
    assert decode(encode(MODEL)) == MODEL


FAMILIES = by_family(LAYERS)


@pytest.mark.parametrize("names", FAMILIES.values(), ids=FAMILIES)
def test_drawn_calls_under_a_policy_are_valid_and_have_its_dtype(names: list[str]) -> None:
    for name, index in product(names, range(5)):
        with about(name):
            drawn = draw_precise(name, 11, index)
            if drawn is None:
                assert not CATALOGUE[name].takes_policy or "int32" in CATALOGUE[name].dtypes
                continue
            assert validate(drawn.case.graph) == []
            compute = POLICIES[drawn.params[POLICY]][0]
            assert {kind.dtype for kind in drawn.case.graph.nodes[-1].outputs if kind.is_float} <= {compute}
            assert decode(encode(drawn.case)) == drawn.case
            run(drawn.case.graph, draw_data(drawn.case))
            list(facts_of(drawn.case.graph, full_space()))
            list(usual_view().excuses("onnxruntime", drawn.spec, drawn.x, drawn.params))
            assert draw_layer(name, 11, index).case.rng_seed == drawn.case.rng_seed


def test_a_whole_model_goes_under_a_policy() -> None:
    plain = chain((2, 4, 4, 3), ("Conv2D", {"filters": 2}), ("BatchNormalization", {}), ("Flatten", {}), ("Dense", {}))
    graph = mixed(plain.graph, "mixed_bfloat16", ModelLimits())
    assert validate(graph) == []
    assert {node.params.get(POLICY) for node in graph.nodes[1:]} == {"mixed_bfloat16"}
    assert graph.nodes[-1].outputs[0].dtype == "bfloat16"


def is_mixed_dense(graph: Graph) -> bool:
    return any(node.layer == "Dense" and node.params.get(POLICY) == "mixed_float16" for node in graph.nodes)


def test_a_fault_in_mixed_precision_is_reduced_to_a_layer_with_its_policy() -> None:
    plain = chain((2, 4, 4, 3), ("Conv2D", {"filters": 2}), ("Flatten", {}), ("Dense", {"units": 3}), ("ReLU", {}))
    case = Case(mixed(plain.graph, "mixed_float16", ModelLimits()), 3)
    small = reduced(case, is_mixed_dense).case
    assert names(small.graph) == ["Dense"]
    assert small.graph.nodes[-1].params[POLICY] == "mixed_float16"
    assert small.graph.nodes[0].outputs[0].dtype == "float32"


def test_a_policy_that_does_not_matter_is_removed() -> None:
    case = chain((2, 3), ("Dense", {"units": 4, "activation": "tanh", **MIXED}), ("ReLU", MIXED))
    small = reduced(case, lambda graph: any(node.layer == "Dense" for node in graph.nodes)).case
    assert not any(POLICY in node.params for node in small.graph.nodes)


def test_what_float16_alone_shows_is_not_said_of_mixed_precision() -> None:
    case = chain((2, 3), ("Dense", {"units": 4, **MIXED}), ("ReLU", MIXED))
    half = reduced(case, lambda graph: any(node.outputs[0].dtype == "float16" for node in graph.nodes[1:])).case
    assert [node.params.get(POLICY) for node in half.graph.nodes] == [None, None]
    assert half.graph.nodes[0].outputs[0].dtype == "float16"


def test_a_script_names_the_policy_and_sets_float32_weights() -> None:
    text = make_script(bug(chain((2, 3), ("Dense", {"units": 2, **MIXED})), finding("keras-torch")))
    assert 'layer = keras.layers.Dense(units=2, dtype="mixed_float16")' in text
    assert (
        "float16" not in text.replace("mixed_float16", "").replace("expected", "").split("set_weights")[1].split("]")[0]
    )
    assert "policy" not in text
