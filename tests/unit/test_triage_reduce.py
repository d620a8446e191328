"""The reducer: smaller in a total order, the same failure, bounded, and the same each time."""

from dataclasses import replace

import numpy as np
import pytest
from triaging import Acting, Condition, acting, crash_of
from trials import chain

from cometfuzz.catalogue.data import draw_data, expected_tensors, to_array, to_tensor
from cometfuzz.catalogue.drawing import draw_layer
from cometfuzz.catalogue.validate import assemble, validate
from cometfuzz.execution.executor import Executor
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import case_id
from cometfuzz.ir.graph import INPUT, Draft, Edge, Graph, Inner, Params
from cometfuzz.triage.confirm import Probe, Target
from cometfuzz.triage.editing import Workpiece, fitted
from cometfuzz.triage.passes import PASSES
from cometfuzz.triage.reduce import Effort, Reduced, Reducer, distance, size_of

DEEP = chain(
    (3, 9, 9, 4),
    ("Conv2D", {"filters": 5, "kernel_size": (4, 3), "padding": "same", "activation": "tanh", "use_bias": False}),
    ("ReLU", {"max_value": 6.0}),
    ("cast", {"dtype": "float64"}),
    ("MaxPooling2D", {"pool_size": (3, 3), "strides": (2, 1)}),
    ("Flatten", {}),
    ("Dense", {"units": 7, "activation": "relu"}),
)


def reduced(case: Case, condition: Condition, effort: Effort | None = None, route: str = "keras-tf") -> Reduced:
    executor = acting(**{route.replace("-", "_"): condition})
    probe = Probe(executor, Target.of(crash_of(route, "keras-torch"), case.graph, executor.routes))
    found = probe.find(case)
    assert found is not None
    return Reducer(probe, effort or Effort(steps=2000)).reduce(case, found)


def names(graph: Graph) -> list[str]:
    return [node.layer for node in graph.nodes if node.layer != INPUT]


def has(layer: str, test: Condition | None = None, **params: object) -> Condition:
    def holds(graph: Graph) -> bool:
        return any(
            node.layer == layer and all(node.params[name] == value for name, value in params.items())
            for node in graph.nodes
        ) and (test is None or test(graph))

    return holds


def even_kernel(graph: Graph) -> bool:
    return any(
        node.layer == "Conv2D"
        and node.params.padding == "same"
        and any(size % 2 == 0 for size in node.params.kernel_size)
        for node in graph.nodes
    )


def test_a_deep_model_becomes_one_layer_with_what_matters() -> None:
    result = reduced(DEEP, even_kernel)
    (node,) = [node for node in result.case.graph.nodes if node.layer != INPUT]
    assert node.params.padding == "same"
    assert sorted(node.params.kernel_size) == [1, 2]
    assert (node.params.filters, node.params.activation, node.params.use_bias) == (1, "linear", True)
    assert result.case.graph.inputs[0].params.shape == (1, 1, 1, 1)
    assert result.cut_short == ""


def test_two_layers_that_are_both_needed_stay() -> None:
    def follows(graph: Graph) -> bool:
        return any(
            node.layer == "MaxPooling2D" and graph.by_id[node.inputs[0].node].layer == "ReLU" for node in graph.nodes
        )

    case = chain((2, 6, 6, 2), ("Conv2D", {"filters": 3}), ("ReLU", {}), ("MaxPooling2D", {}), ("Flatten", {}))
    assert names(reduced(case, follows).case.graph) == ["ReLU", "MaxPooling2D"]


def test_a_utility_node_that_is_needed_stays_and_others_go() -> None:
    result = reduced(DEEP, has("cast"))
    assert names(result.case.graph) == ["cast"]


def test_where_the_layer_does_not_matter_a_plain_one_takes_its_place() -> None:
    result = reduced(DEEP, lambda graph: any(node.layer != INPUT for node in graph.nodes))
    assert names(result.case.graph) == ["ReLU"]


def test_a_wrapper_gives_way_to_the_layer_inside() -> None:
    inner = Inner("Dense", Params({"units": 3}))
    case = chain((2, 4, 5), ("TimeDistributed", {"layer": inner}))

    def dense(graph: Graph) -> bool:
        return any(
            node.layer == "Dense" or (node.layer == "TimeDistributed" and node.params.layer.layer == "Dense")
            for node in graph.nodes
        )

    assert names(reduced(case, dense).case.graph) == ["Dense"]


def test_an_activation_within_a_layer_is_shown_by_itself() -> None:
    def tanh(graph: Graph) -> bool:
        return any(node.params.get("activation") == "tanh" for node in graph.nodes)

    assert names(reduced(DEEP, tanh).case.graph) == ["Activation"]


def test_an_activation_is_tried_on_what_it_sees_in_its_layer() -> None:
    case = chain((2, 3), ("Dense", {"units": 4, "activation": "gelu"}))
    data = draw_data(case)
    (dense,) = (node.id for node in case.graph.nodes if node.layer == "Dense")
    (x,), (kernel, bias) = data.inputs.values(), data.weights[dense].values()
    (unwrap,) = (each for each in PASSES if each.__name__ == "unwrap")
    proposed = [one for one in unwrap(Workpiece(case)) if one is not None and names(one.graph) == ["Activation"]]
    seen = [to_array(tensor) for one in proposed for tensor in one.data.values()]
    assert any(array.shape == (2, 4) and np.allclose(array, x @ kernel + bias, atol=1e-5) for array in seen)


def test_several_inputs_and_outputs_are_dropped() -> None:
    drafts = [Draft(f"x{i}", INPUT, {"shape": (2, 3)}, ()) for i in range(3)]
    drafts.append(Draft("sum", "Add", {}, tuple(Edge(f"x{i}") for i in range(3))))
    drafts.append(Draft("end", "ReLU", {}, (Edge("sum"),)))
    result = reduced(Case(assemble(drafts, [Edge("sum"), Edge("end")]), 1), has("Add"))
    (node,) = [node for node in result.case.graph.nodes if node.layer != INPUT]
    assert (node.layer, len(node.inputs), len(result.case.graph.inputs)) == ("Add", 2, 1)
    assert len(result.case.graph.outputs) == 1


def test_dtypes_become_plain_unless_they_matter() -> None:
    half = chain((2, 6), ("Dense", {"units": 5}), ("Softmax", {}), dtype="float16")
    assert reduced(half, has("Softmax")).case.graph.inputs[0].params.dtype == "float32"

    def is_half(graph: Graph) -> bool:
        return any(node.layer == "Softmax" and node.outputs[0].dtype == "float16" for node in graph.nodes)

    assert reduced(half, is_half).case.graph.inputs[0].params.dtype == "float16"


def test_data_becomes_zeros_where_it_does_not_matter_and_short_where_it_does() -> None:
    case = reduced(chain((2, 3), ("Dense", {"units": 2})), has("Dense")).case
    assert all(not to_array(tensor).any() for tensor in case.data.values())
    assert size_of(case)[-1] == 0.0


def test_a_zero_with_a_sign_is_odder_than_one_without() -> None:
    case = chain((1, 2), ("ReLU", {}))
    (name,) = (node.id for node in case.graph.inputs)
    plain, signed = (replace(case, data={name: to_tensor(np.array([[0.0, zero]], "f4"))}) for zero in (0.0, -0.0))
    assert size_of(plain) < size_of(signed)
    rounded = Workpiece(replace(case, data={name: to_tensor(np.array([[1.0, -0.2]], "f4"))}))
    made = [case for propose in PASSES for case in propose(rounded) if case is not None and name in case.data]
    arrays = [to_array(case.data[name]) for case in made]
    assert not any(np.signbit(array[array == 0]).any() for array in arrays)


def test_it_is_the_same_each_time_and_asks_nothing_twice() -> None:
    one, two = (reduced(DEEP, even_kernel) for _ in range(2))
    assert case_id(one.case) == case_id(two.case)
    assert one.steps == two.steps
    executor = acting(keras_tf=even_kernel)
    probe = Probe(executor, Target.of(crash_of("keras-tf", "keras-torch"), DEEP.graph, executor.routes))
    found = probe.find(DEEP)
    assert found is not None
    Reducer(probe, Effort(steps=2000)).reduce(DEEP, found)
    tried = [case_id(case) for case in executor.tried]  # type: ignore[attr-defined]
    assert len(tried) == len(set(tried))


@pytest.mark.parametrize(("effort", "why"), [(Effort(steps=4), "4 steps"), (Effort(wall_s=0), "0 s")])
def test_it_ends_when_its_means_are_spent_and_says_so(effort: Effort, why: str) -> None:
    result = reduced(DEEP, even_kernel, effort)
    assert why in result.cut_short
    assert even_kernel(result.case.graph)


def test_a_flaky_failure_is_asked_for_more_than_once() -> None:
    executor = Acting({"keras-tf": has("ReLU")}, flaky=lambda number: number % 2 == 0)
    assert isinstance(executor.run(DEEP), object)
    case = chain((2, 3), ("Dense", {}), ("ReLU", {}))
    probe = Probe(executor, Target.of(crash_of("keras-tf", "keras-torch"), case.graph, executor.routes), tries=3)  # type: ignore[arg-type]
    found = probe.find(case)
    assert found is not None
    assert names(Reducer(probe, Effort(steps=500)).reduce(case, found).case.graph) == ["ReLU"]


def test_what_fails_everywhere_is_not_what_failed_on_one_route() -> None:
    executor: Executor = acting(keras_tf=has("Dense"), keras_torch=lambda graph: len(names(graph)) == 1)
    case = chain((2, 3), ("Dense", {}), ("ReLU", {}))
    probe = Probe(executor, Target.of(crash_of("keras-tf", "keras-torch"), case.graph, executor.routes))
    found = probe.find(case)
    assert found is not None
    assert len(names(Reducer(probe, Effort(steps=500)).reduce(case, found).case.graph)) == 2


@pytest.mark.parametrize("propose", PASSES, ids=lambda propose: propose.__name__)
def test_every_proposal_is_valid_and_has_its_data(propose: object) -> None:
    inner = Inner("LSTM", Params({"units": 3, "return_sequences": True}))
    wrapped = chain((2, 4, 5), ("Masking", {}), ("Bidirectional", {"layer": inner, "merge_mode": "sum"}), ("GRU", {}))
    pinned = replace(DEEP, data={"x": to_tensor(draw_data(DEEP).inputs["x"])})
    for case in (DEEP, pinned, wrapped):
        for candidate in propose(Workpiece(case)):  # type: ignore[operator]
            if candidate is not None:
                assert validate(candidate.graph) == []
                draw_data(candidate)


def test_tensors_are_cut_and_repeated_to_fit() -> None:
    case = chain((2, 3), ("ReLU", {}))
    smaller, larger = chain((1, 2), ("ReLU", {})).graph, chain((2, 5), ("ReLU", {}), dtype="float16").graph
    given = {"x": to_tensor(np.arange(6, dtype=np.float32).reshape(2, 3))}
    assert to_array(fitted(smaller, given)["x"]).tolist() == [[0, 1]]
    assert to_array(fitted(larger, given)["x"]).tolist() == [[0, 1, 2, 0, 1], [3, 4, 5, 3, 4]]
    assert fitted(case.graph, {"y": given["x"]}) == {}


def test_what_matters_is_found_at_the_end_of_an_axis_too() -> None:
    case = chain((2, 5, 3), ("ReLU", {}))
    data = np.zeros((2, 5, 3), np.float32)
    data[-1, -1, -1] = 7.0
    case = replace(case, data={"x": to_tensor(data)})
    while True:
        candidates = [made for propose in PASSES for made in propose(Workpiece(case)) if made and "x" in made.data]
        showing = [each for each in candidates if (to_array(each.data["x"]) == 7.0).any()]
        smaller = [each for each in showing if size_of(each) < size_of(case)]
        if not smaller:
            break
        case = smaller[0]
    assert to_array(case.data["x"]).tolist() in ([7.0], [[7.0]])


def test_the_order_of_parameters() -> None:
    assert distance("same", "same") == 0
    assert distance((2, 1), (1, 1)) < distance((2, 2), (1, 1))
    assert distance(2, 1) < distance(7, 1)
    assert distance(0.5, 0.0) < distance(0.512, 0.0)
    assert distance(Inner("Dense", Params({"units": 1})), None) > distance(True, False)


def test_plain_before_odd_before_wrapped() -> None:
    plain, odd = chain((1, 1), ("ReLU", {})), chain((1, 1), ("Dense", {}))
    assert size_of(plain) < size_of(odd) < size_of(chain((1, 1), ("Dense", {}), ("ReLU", {})))
    assert size_of(chain((1, 0), ("ReLU", {}))) > size_of(chain((1, 1), ("ReLU", {})))


def test_a_weight_that_is_a_number_follows_a_change_of_dtype() -> None:
    """Attention with use_scale has one."""
    graph = next(
        drawn.case.graph
        for drawn in (draw_layer("Attention", 3, index) for index in range(200))
        if drawn.params["use_scale"] and drawn.case.graph.inputs[0].outputs[0].dtype == "float32"
    )
    (key,) = (key for key, (_, shape) in expected_tensors(graph).items() if shape == ())
    given = {key: to_tensor(np.array(2.5, np.float64))}
    kept = to_array(fitted(graph, given)[key])
    assert (kept.dtype, kept.shape, float(kept)) == (np.dtype(np.float32), (), 2.5)
