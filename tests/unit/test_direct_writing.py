"""What is written as ONNX by ourselves, without onnx: the tables are whole, and what is asked is what is written."""

from dataclasses import replace

import pytest

from cometfuzz.catalogue import CATALOGUE, COUNTED
from cometfuzz.catalogue.data import draw_data
from cometfuzz.catalogue.drawing import draw_layer, layer_drafts
from cometfuzz.catalogue.validate import assemble
from cometfuzz.execution.conformance import layers_of
from cometfuzz.execution.policy import assign_breaking
from cometfuzz.execution.sayable import objection, takes
from cometfuzz.execution.versions import usual_view
from cometfuzz.ir.case import PLAIN
from cometfuzz.ir.graph import INPUT, Edge
from cometfuzz.ir.types import TensorType
from cometfuzz.routes.direct.asking import NEWEST, USUAL
from cometfuzz.routes.direct.encoding import write, write_at
from cometfuzz.routes.direct.families import WRITERS
from cometfuzz.routes.direct.schemas import TAKES
from cometfuzz.routes.direct.step import DIRECT_ONNXRUNTIME
from cometfuzz.routes.direct.unsaid import UNSAID
from cometfuzz.routes.direct.writing import Unsaid, Writing
from cometfuzz.routes.registry import ROUTES, base_of
from cometfuzz.search.refuse import beside


def test_every_layer_is_written_or_said_not_to_be() -> None:
    ours = {name for name, spec in CATALOGUE.items() if spec.kind != "cell" and name != INPUT}
    assert not WRITERS.keys() & UNSAID.keys()
    assert ours == WRITERS.keys() | UNSAID.keys()


def test_what_nobody_objects_to_is_written() -> None:
    said = 0
    for name in WRITERS.keys() & COUNTED.keys():
        case = draw_layer(name, 7, 0).case
        weights = {node: list(tensors.values()) for node, tensors in draw_data(case).weights.items()}
        if not takes(DIRECT_ONNXRUNTIME, case.graph):
            with pytest.raises(Unsaid):
                write_at((USUAL, NEWEST), case.graph, weights, PLAIN)
            continue
        said += 1
        w, outputs = write_at((USUAL, NEWEST), case.graph, weights, PLAIN)
        assert [w.dtypes[each] for each in outputs] == [case.graph.type_of(edge).dtype for edge in case.graph.outputs]
        assert all(each.kind in TAKES for each in w.operations)
    assert said > 0.8 * len(WRITERS.keys() & COUNTED.keys())


def test_an_operator_is_held_to_its_dtypes_and_its_opset() -> None:
    w = Writing(15)
    w.dtypes.update(x="bfloat16", y="float32")
    with pytest.raises(Unsaid, match="Conv takes no bfloat16 at opset 15"):
        w.op("Conv", "x", "x")
    with pytest.raises(Unsaid, match="there is no Gelu at opset 15"):
        w.op("Gelu", "y")
    assert Writing(22).has("Conv", "bfloat16")
    assert w.op("Equal", "y", "y") in w.dtypes
    assert w.dtypes[w.operations[-1].outputs[0]] == "bool"


def test_dots_stand_for_as_many_axes_in_every_input_of_an_einsum() -> None:
    types = [TensorType("float32", shape) for shape in ((1,), (1,), (2, 1))]
    params = CATALOGUE["ops.einsum"].complete({"subscripts": "h,...c,...h"})
    drafts = layer_drafts(CATALOGUE["ops.einsum"], types, params)
    w, _ = write_at((USUAL, NEWEST), assemble(drafts, [Edge(drafts[-1].id)]), {}, PLAIN)
    assert [each.kind for each in w.operations if each.kind in ("Unsqueeze", "Einsum")] == ["Unsqueeze", "Einsum"]


def test_constants_that_are_equal_are_one_and_others_are_not() -> None:
    w = Writing(15)
    assert w.constant(0.0, "float32") == w.constant(0.0, "float32")
    names = {w.constant(0.0, "float32"), w.constant(-0.0, "float32"), w.constant(0.0, "float64"), w.ints([0])}
    assert len(names) == 4


def test_a_mask_that_matters_and_a_policy_are_objected_to() -> None:
    spec = CATALOGUE["LSTM"]
    drawn = next(each for each in (draw_layer("LSTM", 1, index) for index in range(50)) if each.x.masked)
    assert "masks" in objection(DIRECT_ONNXRUNTIME, spec, (drawn.x,), drawn.params)
    plain = draw_layer("Dense", 1, 0)
    assert not objection(DIRECT_ONNXRUNTIME, CATALOGUE["Dense"], (plain.x,), plain.params)
    under = plain.params.replace(policy="mixed_float16")
    assert "policies" in objection(DIRECT_ONNXRUNTIME, CATALOGUE["Dense"], (plain.x,), under)


def test_open_sizes_are_not_written() -> None:
    case = draw_layer("ReLU", 1, 0).case
    with pytest.raises(Unsaid, match="sizes"):
        write(case.graph, {}, replace(PLAIN, opened={"x0": (0,)}), USUAL)


def test_a_route_of_ours_has_no_front_end() -> None:
    direct = [name for name in ROUTES if name.startswith("direct-")]
    assert len(direct) == 6
    assert all(base_of(name) is None for name in direct)
    assert base_of("onnxruntime") == "keras-tf"
    assert layers_of(DIRECT_ONNXRUNTIME) == list(COUNTED)


def test_what_breaks_a_rule_is_not_sent_to_what_must_be_asked() -> None:
    broken = next(case for index in range(400) if (case := beside(1, index, "IL")) is not None)
    assert not any(name.startswith("direct-") for name in assign_breaking(usual_view(), broken).routes)
