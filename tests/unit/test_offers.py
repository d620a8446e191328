"""Offers: what a library lacks of the catalogue, how it is asked, and that nothing is made of what is lacking."""

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from cometfuzz import plugins
from cometfuzz.catalogue import CATALOGUE
from cometfuzz.catalogue.drawing import draw_layer
from cometfuzz.catalogue.offer import Lack, Offer, simplified
from cometfuzz.catalogue.validate import assemble
from cometfuzz.config import PolicyConfig
from cometfuzz.coverage.layers import full_space, ops_space, paper_space
from cometfuzz.coverage.offered import offered_space
from cometfuzz.errors import CometfuzzError
from cometfuzz.execution.offers import Question, digest_of, lacking, place_of, questions, read, without_defects
from cometfuzz.execution.policy import assign, assign_breaking
from cometfuzz.execution.versions import view_of
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Draft, Edge, Graph, Inner, Node, Params
from cometfuzz.ir.types import TensorType
from cometfuzz.ledger.cpu import USUAL_CPU
from cometfuzz.ledger.defect import Applies, Defect
from cometfuzz.ledger.matching import Rule, View, rule_of
from cometfuzz.mutation.dialect import Dialects, usual_dialects
from cometfuzz.routes.offers import CALL, FIND, MAKE, TAKE, Lacking, accepts, answer, without_idle
from cometfuzz.routes.registry import ROUTES, moved
from cometfuzz.search.directed import Directed
from cometfuzz.search.rehearsal import rehearse
from cometfuzz.search.strategies import Options, make_strategy, offered_seeds
from cometfuzz.seeds.small import SMALL

OLD = Offer(
    "Keras 3.0",
    (
        Lack("RMSNormalization"),
        Lack("ops.celu"),
        Lack("GRUCell"),
        Lack("MultiHeadAttention", "sliding_window"),
        Lack("Conv2D", "groups"),
        *(Lack(name, "activation", '"celu"') for name, spec in CATALOGUE.items() if "activation" in spec.params),
        *(Lack(name, "activation", '"relu"') for name, spec in CATALOGUE.items() if "activation" in spec.params),
    ),
)


def test_a_defect_does_not_hide_that_an_operator_is_not_there() -> None:
    """It raises, as the defect does; a parameter that raises is the defect."""
    applies = Applies(("keras-tf",), layers=("ops.celu",), raises="Exception")
    entry = Defect(title="celu raises", why="", library="keras", applies=(applies,), id="celu")

    class Known(View):
        def rules_of(self, route: str, layer: str, base: bool = False) -> tuple[Rule, ...]:
            return (rule_of(entry, applies),) if layer == "ops.celu" else ()

    whole, part = Lack("ops.celu"), Lack("ops.celu", "alpha")
    view = Known({"keras-tf": ROUTES["keras-tf"]}, {})
    assert without_defects(view, "keras-tf", Offer("Keras 3.0", (whole,))).lacks == (whole,)
    assert without_defects(view, "keras-tf", Offer("Keras 3.0", (part,))).lacks == ()
    assert without_defects(view, "keras-tf", Offer("Keras 3.0", (), (whole,))).broken == ()


BOTH = Lack("SeparableConv1D", "strides with dilation_rate")


def dialects(offers: Mapping[str, Offer]) -> Dialects:
    policy = PolicyConfig()
    return Dialects.on(view_of(ROUTES, USUAL_CPU, offers), policy.base, policy.only)


def row(*layers: tuple[str, Mapping[str, Any]]) -> Graph:
    drafts = [Draft("x", INPUT, {"shape": (2, 4)}, ())]
    for index, (layer, params) in enumerate(layers):
        drafts.append(Draft(f"n{index}", layer, params, (Edge(drafts[-1].id),)))
    return assemble(drafts, [Edge(drafts[-1].id)])


def seeds() -> list[Graph]:
    """With an activation, with a layer in the middle, and with one at the very beginning that the library lacks."""
    values = row(("Dense", {"units": 3, "activation": "celu"}), ("Dense", {"units": 2}))
    middle = row(("Dense", {"units": 3}), ("RMSNormalization", {}), ("ReLU", {}))
    return [*(make() for make in SMALL.values()), values, middle, row(("RMSNormalization", {}), ("ReLU", {}))]


def lacks(graph: Graph) -> list[str]:
    found = [OLD.objection(node.layer, node.params) for node in graph.nodes]
    return [reason for reason in found if reason]


def test_what_is_lacking_is_said_of_layers_parameters_values_and_layers_inside() -> None:
    conv = CATALOGUE["Conv2D"]
    assert OLD.objection("RMSNormalization", Params()) == "Keras 3.0 has no RMSNormalization"
    assert OLD.objection("Conv2D", conv.complete({"filters": 2})) == ""
    assert OLD.objection("Conv2D", conv.complete({"filters": 2, "groups": 2})) == "Keras 3.0 has no groups=2 of Conv2D"
    assert OLD.objection("Dense", Params({"activation": "celu"})) == 'Keras 3.0 has no activation="celu" of Dense'
    within = Params({"cell": Inner("GRUCell", CATALOGUE["GRUCell"].complete({}))})
    assert OLD.objection("RNN", within) == "Keras 3.0 has no GRUCell"


def test_values_that_are_lacking_give_way_to_simple_ones_also_within_wrappers() -> None:
    dense = CATALOGUE["Dense"]
    given = dense.complete({"units": 3, "activation": "celu", "use_bias": False})
    assert simplified([OLD], dense, given) == dense.complete({"units": 3, "use_bias": False})
    wrapper = CATALOGUE["TimeDistributed"]
    wrapped = wrapper.complete({"layer": Inner("Dense", given)})
    assert simplified([OLD], wrapper, wrapped).layer.params.activation == "linear"
    assert simplified([OLD], dense, dense.complete({"units": 3})) == dense.complete({"units": 3})
    both = CATALOGUE["Bidirectional"]  # another layer stands in, with all its parameters
    changed = simplified([Offer("", (Lack("GRU"),))], both, both.complete({"layer": Inner("GRU", Params())}))
    assert changed.layer == Inner("LSTM", CATALOGUE["LSTM"].complete({}))
    nothing_simple = Offer("", (Lack("Dense", "activation", '"linear"'), Lack("Dense", "activation", '"relu"')))
    assert simplified([nothing_simple], dense, dense.complete({})).activation == "relu6"


@pytest.mark.parametrize(("name", "cases"), [("comet", 30), ("directed", 20), ("odd", 40)])
def test_nothing_is_made_of_what_is_lacking(name: str, cases: int) -> None:
    made = make_strategy(name, Options(1, seeds(), dialects=dialects({"keras-tf": OLD})))
    found: list[Case] = []
    rehearse(made, cases, found.append)
    assert len(found) == cases
    assert [lacks(case.graph) for case in found if lacks(case.graph)] == []


def test_without_the_offer_the_same_strategies_do_use_it() -> None:
    found: list[Case] = []
    rehearse(make_strategy("odd", Options(1, seeds())), 60, found.append)
    assert any(lacks(case.graph) for case in found)


def test_an_offer_that_lacks_nothing_changes_no_case() -> None:
    def cases(options: Options) -> list[Case]:
        found: list[Case] = []
        rehearse(make_strategy("directed", options), 8, found.append)
        return found

    plain = [make() for make in SMALL.values()]
    assert cases(Options(3, plain)) == cases(Options(3, plain, dialects=dialects({"keras-tf": Offer("Keras 9")})))


def test_two_parameters_that_are_not_taken_together_are_said_and_parted() -> None:
    old = Offer("Keras 3.3.3", (Lack("DepthwiseConv2D", "strides with dilation_rate"),))
    conv = CATALOGUE["DepthwiseConv2D"]
    both = conv.complete({"strides": (2, 2), "dilation_rate": (1, 2)})
    assert old.objection("DepthwiseConv2D", both) == "Keras 3.3.3 has no strides with dilation_rate of DepthwiseConv2D"
    for one in ({"strides": (2, 2)}, {"dilation_rate": (1, 2)}):
        params = conv.complete(one)
        assert not old.objection("DepthwiseConv2D", params)
        assert simplified([old], conv, params) == params
    assert simplified([old], conv, both) == conv.complete({"strides": (2, 2)})
    assert simplified([Offer()], conv, both) == both


def test_two_parameters_together_are_asked_about_and_what_was_answered_is_kept_apart() -> None:
    (question,) = (each for each in questions("keras3") if each.lack == BOTH)
    params = question.graph.nodes[-1].params
    assert set(params["strides"]) != {1}
    assert set(params["dilation_rate"]) != {1}
    assert lacking([(question, MAKE)], "keras3") == ((BOTH,), ())
    assert lacking([(question, CALL)], "keras3") == ((), (BOTH,))
    simpler = next(each for each in questions("keras3") if each.lack == Lack("SeparableConv1D"))
    assert BOTH not in lacking([(question, CALL), (simpler, CALL)], "keras3")[1]


def test_seeds_are_simplified_cut_or_left_out() -> None:
    options = Options(1, seeds(), dialects=dialects({"keras-tf": OLD}))
    kept = offered_seeds(options)
    assert [lacks(graph) for graph in kept if lacks(graph)] == []
    *_, values, middle = kept
    assert [node.layer for node in values.nodes] == ["input", "Dense", "Dense"]
    assert [node.layer for node in middle.nodes] == ["input", "Dense"]
    assert len(kept) == len(seeds()) - 1
    with pytest.raises(CometfuzzError, match="expected a seed of which the libraries have a part"):
        offered_seeds(Options(1, seeds()[-1:], dialects=dialects({"keras-tf": OLD})))
    assert offered_seeds(Options(1, seeds())) == seeds()


def test_what_is_lacking_is_out_of_reach_and_says_why() -> None:
    offering = dialects({"keras-torch": OLD}).offering
    space = offered_space(full_space(), offering)
    reasons = {item: reason for item, reason in space.unreachable.items() if item not in full_space().unreachable}
    assert set(reasons.values()) >= {
        "Keras 3.0 has no RMSNormalization",
        'Keras 3.0 has no activation="celu" of Dense',
        "Keras 3.0 has no groups of Conv2D",
    }
    assert {item.criterion for item in reasons} == {"inputs", "parameters", "sequences"}
    groups = [item.value for item in reasons if (item.layer, item.name) == ("Conv2D", "groups")]
    assert groups == ["#2", "#3", "#4", "#5"][: len(groups)] != []  # the default is still there
    assert not any(item.layer == "RMSNormalization" for item in space.items["inputs"] if item not in space.unreachable)
    assert offered_space(ops_space(), offering).reachable("inputs") < ops_space().reachable("inputs")
    for each in (paper_space(), full_space(), ops_space()):
        assert offered_space(each, usual_dialects().offering) is each
    made = Directed(Options(1, seeds(), dialects=dialects({"keras-tf": OLD})))
    assert made.coverages[1].space.unreachable == space.unreachable


def test_converters_and_sampled_routes_get_what_their_front_end_has() -> None:
    graph = row(("Dense", {"units": 3}), ("RMSNormalization", {}), ("ReLU", {}), ("ReLU", {}))
    policy = PolicyConfig(base=("keras-torch",), converters=("onnxruntime",), clear=(), sampled=())
    view = view_of(ROUTES, USUAL_CPU, {"onnxruntime": OLD})
    found = assign(policy, view, Case(graph, 1), 0, 1, {"onnxruntime": {"n2": 0, "n3": 0}})
    parts = [part.case.graph for part in found if "onnxruntime" in part.routes]
    assert [[node.layer for node in part.nodes] for part in parts] == [["input", "ReLU", "ReLU"]]


def test_a_call_that_breaks_a_rule_goes_to_libraries_that_have_the_layer() -> None:
    view = view_of(ROUTES, USUAL_CPU, {"keras-tf": OLD})
    assert "keras-tf" not in assign_breaking(view, Case(row(("RMSNormalization", {})), 1)).routes
    assert "keras-torch" in assign_breaking(view, Case(row(("RMSNormalization", {})), 1)).routes
    assert "keras-tf" in assign_breaking(view, Case(row(("Dense", {"units": 3})), 1)).routes


def question(*about: str, dtype: str = "") -> Question:
    return next(each for each in questions("keras3") if each.lack == Lack(*about, dtype=dtype))


def test_every_layer_parameter_and_listed_value_is_asked_about() -> None:
    asked = {each.lack for each in questions("keras3")}
    assert {Lack("Dense"), Lack("ops.celu"), Lack("LSTMCell"), Lack("Conv2D", "groups")} <= asked
    assert {Lack("Conv2D", "padding", '"same"'), Lack("ops.sum", "keepdims", "true")} <= asked
    named = [lack for lack in asked if lack.value == '"celu"']
    assert len({lack.layer for lack in named}) == 1  # in one layer for all of them, on each dtype
    assert {Lack("Conv2D", dtype="bfloat16"), Lack("ops.add", dtype="int32")} <= asked
    assert not any(lack.layer.startswith("ops.") for lack in {each.lack for each in questions("keras2")})
    for each in questions("keras3")[::40]:
        assert each.lack.layer in json.dumps(each.to_plain())


def test_answers_say_what_is_lacking_and_blame_nothing_else() -> None:
    refused = [
        (question("RMSNormalization"), FIND),
        (question("Conv2D", "groups"), TAKE),
        (question("Conv2D", "padding", '"same"'), MAKE),
        (next(each for each in questions("keras3") if each.lack.value == '"celu"'), MAKE),
        (question("ops.tile"), CALL),
        (question("ops.tile", "repeats"), CALL),
        (question("Dropout", dtype="float16"), CALL),
        (question("Dense", "activation", '"relu"', dtype="float16"), CALL),
        (question("LSTM", "units"), CALL),
        *((each, CALL) for each in questions("keras3") if each.lack == Lack("GRU", "units")),
        (question("Conv1D", "filters"), MAKE),
        (question("Conv1D", "activation"), MAKE),
    ]
    lacks, broken = lacking(refused, "keras3")
    assert {Lack("RMSNormalization"), Lack("Conv2D", "groups"), Lack("Conv2D", "padding", '"same"')} < {*lacks}
    assert Lack("LSTM", "recurrent_activation", '"celu"') in lacks
    assert {lack.value for lack in lacks} == {"", '"same"', '"celu"'}
    assert {Lack("ops.tile"), Lack("Dropout", dtype="float16"), Lack("GRU", "units")} < {*broken}
    assert {Lack("Conv1D", "filters"), Lack("GRU", "activation", '"relu"', "float16")} < {*broken}
    assert not {Lack("ops.tile", "repeats"), Lack("LSTM", "units")} & {*broken}  # explained, and not every time
    assert Lack("Conv1D", "activation") not in broken


def test_a_value_is_not_blamed_for_another_one_in_its_call() -> None:
    graph = draw_layer("Dense", 1, 1).case.graph
    node = graph.nodes[-1]
    other = Node(node.id, "Dense", CATALOGUE["Dense"].complete({"units": 2, "activation": "celu"}), node.inputs, ())
    doubtful = Question(Lack("Dense", "use_bias", "false"), Graph((*graph.nodes[:-1], other), graph.outputs))
    sure = next(each for each in questions("keras3") if each.lack.value == '"celu"')
    assert doubtful.lack not in lacking([(doubtful, MAKE), (sure, MAKE)], "keras3")[0]
    assert doubtful.lack in lacking([(doubtful, MAKE)], "keras3")[0]


def test_models_keep_clear_of_what_is_broken_and_probes_do_not() -> None:
    broken = Offer("Keras 3.0", broken=(Lack("Dense", dtype="float16"), Lack("ReLU")))
    found = dialects({"keras-tf": broken}).modern
    dense, (half, single) = CATALOGUE["Dense"], (TensorType(dtype, (2, 3)) for dtype in ("float16", "float32"))
    assert found.objection("Dense", (half,), dense.complete({})) == "Keras 3.0 has no Dense on float16"
    assert found.objection("Dense", (single,), dense.complete({})) == ""
    assert not found.has("ReLU")
    assert found.lenient.has("ReLU")
    assert found.lenient.objection("Dense", (half,), dense.complete({})) == ""
    assert offered_space(full_space(), dialects({"keras-tf": broken}).offering) is full_space()
    made = make_strategy("comet", Options(1, seeds(), dialects=dialects({"keras-tf": broken})))
    cases: list[Case] = []
    rehearse(made, 20, cases.append)
    assert not any(node.layer == "ReLU" for case in cases[len(seeds()) :] for node in case.graph.nodes)


class Work:
    """Notes the stages of an answer."""

    def __init__(self) -> None:
        self.stages: list[str] = []

    def enter(self, stage: str) -> None:
        self.stages.append(stage)

    def library(self) -> AbstractContextManager[None]:
        return nullcontext()


class OldDense:
    """A layer of a library without `lora_rank`, and with one activation."""

    def __init__(self, units: int, activation: str = "linear", **others: Any) -> None:
        if activation != "linear" or others:
            raise ValueError("unknown")

    def call(self, x: Any, training: bool = False) -> Any:
        return x


class OldLibrary:
    """A builder that has this layer, and an operator."""

    def forget(self, graph: Graph) -> None: ...

    def find(self, name: str) -> Any:
        return {"Dense": OldDense, "ops.sum": lambda x, axis=None: x}.get(name)

    def layer_of(self, graph: Graph, node: Node) -> Any:
        chosen = {
            name: value for name, value in node.params.items() if value != CATALOGUE["Dense"].params[name].simplest
        }
        return OldDense(**{"units": 1, **chosen})

    def try_out(self, work: Any, layers: dict[str, Any]) -> None:
        if work.graph.nodes[-1].params.get("keepdims"):
            raise TypeError("unexpected keyword")


@pytest.mark.parametrize(
    ("about", "last", "fails"),
    [
        (("Dense",), CALL, False),
        (("Dense", "units"), CALL, False),
        (("Dense", "kernel_initializer", '"Ones"'), TAKE, True),
        (("Dense", "kernel_initializer"), TAKE, True),
        (("Dense", "activation", '"celu"'), MAKE, True),
        (("Conv2D",), FIND, True),
        (("ops.sum",), CALL, False),
        (("ops.sum", "keepdims", "true"), TAKE, True),
        (("ops.celu",), FIND, True),
    ],
)
def test_the_stage_of_a_refusal_tells_what_is_lacking(about: tuple[str, ...], last: str, fails: bool) -> None:
    work = Work()
    asked = json.dumps(question(*about).to_plain()).encode()
    if fails:
        with pytest.raises((Lacking, ValueError, TypeError)):
            answer(OldLibrary(), work, asked)  # type: ignore[arg-type]
    else:
        assert answer(OldLibrary(), work, asked) == []  # type: ignore[arg-type]
    assert work.stages[-1] == last


def test_arguments_that_say_nothing_are_left_out_for_a_library_without_the_parameter(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = {"simplest": {"Dense": {"groups": 1, "sizes": [1, 1], "flag": False, "units": 1}}}
    monkeypatch.setattr(plugins, "_heard", lambda: told)

    def made(units: int) -> None: ...

    assert [accepts(made, name) for name in ("units", "groups")] == [True, False]
    assert without_idle("Dense", made, {"units": 1, "groups": 1, "sizes": (1, 1), "flag": False}) == {"units": 1}
    kept = {"units": 3, "groups": 2, "sizes": (1, 2), "flag": True, "name": "x"}
    assert without_idle("Dense", made, kept) == kept
    assert without_idle("Dense", made, {"flag": 0, "groups": True}) == {"flag": 0, "groups": True}


def test_parameters_are_those_of_all_classes_that_get_them_handed_on() -> None:
    class Base:
        def __init__(self, name: str = "", dtype: str = "") -> None: ...

        def call(self, x: Any, mask: Any = None) -> Any: ...

    class Open(Base):
        def __init__(self, units: int, **more: Any) -> None: ...

    class Closed(Base):
        def __init__(self, units: int) -> None: ...

    assert [accepts(Open, name) for name in ("units", "dtype", "mask", "other")] == [True, True, True, False]
    assert [accepts(Closed, name) for name in ("units", "dtype")] == [True, False]


def test_offers_have_a_digest_that_follows_what_is_lacking() -> None:
    assert digest_of({}) == digest_of({"keras-tf": Offer("Keras 3.15.1")}) == ""
    one, two = digest_of({"a": OLD}), digest_of({"a": Offer(OLD.library, OLD.lacks[1:])})
    assert "" != one != two == digest_of({"a": Offer(OLD.library, OLD.lacks[:0:-1])}) != ""
    assert digest_of({"a": Offer("Keras", broken=OLD.lacks)}) not in ("", one)


def test_a_kept_answer_is_read_back_and_a_strange_one_is_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "offer.json"
    assert read(path) is None
    lacks = '[{"layer": "Dense", "parameter": "no"}, {"layer": "GRU"}]'
    path.write_text(f'{{"library": "Keras 3", "lacks": {lacks}, "broken": [{{"layer": "LSTM", "dtype": "float16"}}]}}')
    found = read(path)
    assert found is not None
    assert (found.lacks, found.broken) == ((Lack("GRU"),), (Lack("LSTM", dtype="float16"),))
    for text in ("", "[]", '{"library": 3, "lacks": [], "broken": []}', '{"library": "", "lacks": [3], "broken": []}'):
        path.write_text(text)
        assert read(path) is None


def test_answers_are_kept_for_front_ends_of_known_environments() -> None:
    copies = [
        moved(ROUTES[name], "copy", "keras33") for name in ("keras-tf", "keras-torch", "onnxruntime", "reference")
    ]
    places = [place_of(route) for route in copies]
    assert places[0] == places[2] != places[1]
    assert [place and place.parent.name for place in places] == ["offers", "offers", "offers", None]
    assert place_of(moved(ROUTES["keras-tf"], "copy", "no such environment")) is None
    assert place_of(ROUTES["keras-tf"]) is None  # conformance has measured it
