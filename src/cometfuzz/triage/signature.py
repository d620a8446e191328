"""Signatures: the key of a bug, read off its reduced case; and whether a finding is one that is known already."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from cometfuzz.catalogue.manners import within
from cometfuzz.catalogue.spec import CATALOGUE
from cometfuzz.ir.case import PLAIN, Manner
from cometfuzz.ir.graph import INPUT, Graph, Inner, Node, Params
from cometfuzz.ir.types import TensorType
from cometfuzz.ledger.reading import same_fix
from cometfuzz.oracles.finding import DataKind, Finding, template
from cometfuzz.oracles.symptoms import RELATION, about
from cometfuzz.triage.bug import Blame, Bug, Signature
from cometfuzz.triage.confirm import activations_of
from cometfuzz.triage.passes import USUAL_LAYER

USUAL_DTYPE = "float32"
MATTERING: tuple[DataKind, ...] = ("empty", "special")
"""What the data is like belongs to the condition, if it is one of these."""

LEAST = ("rank", "inputs")
"""Of these, more than the condition says will do."""

DISPATCHING = (
    *("traceback_utils.py", "execute.py", "onnxruntime_inference_collection.py", "_ops.py", "module.py"),
    *("function.py", "_utils_impl.py", "interpreter.py", "ie_api.py", "operation.py", "raise_from_not_ok_status"),
)
"""Files and functions through which every call of a library goes: a frame in one of them says nothing."""

ACTIVATING = {"relu": "ReLU", "softmax": "Softmax", "elu": "ELU", "leaky_relu": "LeakyReLU"}
"""Activations that are layers too, which call the same function."""

_OPERATOR = re.compile(
    r"op_type: ?(\w+)|OpType: (\w+)|\bOp \((\w+)\)|'(\w+\.\w+)' op\b|\[Op:(\w+)\]|descriptor for an? (\w+)"
)
"""How libraries name the operator that they fail over; the last one is oneDNN's way."""

_CHECK = re.compile(r"\w+\.(?:h|hpp|cc|cpp):\d+")
"""How a runtime names the check that refuses a file. What the file has there is one operator; layers around it only
made a converter or an optimiser write it so."""

_CALLING = re.compile(r"Exception encountered when calling \S+\.call\(\)\.")
"""How Keras names the layer that fails."""

_AROUND = re.compile(_CALLING.pattern + r"|\{\{[^}]*\}\}|\x1b?\[[01]m|Arguments received by .*")
"""What Keras and TensorFlow put around a message: the layer, the device, colours, the arguments."""

_LATER = re.compile(r"(\(op_type:.*?)\(op_type:.*", re.DOTALL)
"""What ONNX says of operators behind the first one that it could not infer."""

_BROADCASTING = ("Add", "AddV2", "Sub", "Mul", "Div", "RealDiv")
"""Operators that converters treat by one rule."""

WORDS, CUT = 6, 160
"""A message of fewer words says too little to go by; one of that length has lost its end."""

_SITE = re.compile(r".*(?:site-packages|dist-packages)/")


class LayerCall(NamedTuple):
    """A layer call: a node, or a layer inside one."""

    layer: str
    types: tuple[TensorType, ...]
    params: Params


def sign(finding: Finding, blame: Blame, graph: Graph) -> Signature:
    """The signature of a finding on its reduced case. Of a call that breaks a rule, the rule is all that matters."""
    facts = condition_of(graph, finding.data_kind) if finding.data_kind != "invalid" else []
    return Signature(
        library=blame.library,
        stage=blame.stage,
        symptom=finding.symptom,
        layers=layers_of(graph),
        failure=failure_of(finding),
        condition=", ".join(fact.text for fact in facts),
        switch=finding.switch,
    )


def rough_signature(finding: Finding) -> Signature:
    """The signature as far as a finding tells it by itself."""
    layers = tuple(part for part in finding.layer.split(" > ") if part)
    condition = f"{finding.data_kind} data" if finding.data_kind in MATTERING else ""
    claim = finding.library, finding.stage, finding.symptom
    return Signature(*claim, layers, finding.failure, condition, finding.switch)


def failure_of(finding: Finding) -> str:
    """An exception's type with the innermost frame in a library that says something, else its message as a template."""
    if not about(finding.symptom).raises:
        return template(finding.failure)
    kind = finding.failure.split(":")[0]
    frames = [str(frame) for frame in finding.evidence.get("frames", ())]
    for frame in reversed(frames):
        path, _, name = frame.partition(" ")
        path = path.rsplit(":", 1)[0].replace("\\", "/")
        if _SITE.match(path) and path.rsplit("/", 1)[-1] not in DISPATCHING and name not in DISPATCHING:
            return f"{kind} in {_SITE.sub('', path)} {name}"
    return finding.failure


def layers_of(graph: Graph) -> tuple[str, ...]:
    """The layers of a reduced graph in order; utility nodes too, since it would not show without them."""
    return tuple(node.layer for node in graph.nodes if node.layer != INPUT)


def needs_utility(graph: Graph) -> bool:
    """Whether one of our own utility nodes is left."""
    ordinary = (INPUT, "scale")  # a product with a number is what any model may have
    return any(CATALOGUE[node.layer].kind == "utility" for node in graph.nodes if node.layer not in ordinary)


@dataclass(frozen=True)
class Fact:
    """One part of a condition: of which layer, what, and the value if it can be listed. text: as people read it."""

    layer: str
    name: str
    value: Any
    text: str


def condition_of(graph: Graph, data_kind: DataKind = "ordinary") -> list[Fact]:
    """What still differs from the simplest in a reduced graph: parameters, dtype, rank, number of inputs, data."""
    facts: dict[str, Fact] = {}
    for node in graph.nodes:
        if node.layer != INPUT:
            for fact in _facts(LayerCall(node.layer, graph.input_types(node), node.params)):
                facts.setdefault(fact.text, fact)
    if data_kind in MATTERING:
        facts[data_kind] = Fact("", "data", data_kind, f"{data_kind} data")
    return list(facts.values())


def _facts(call: LayerCall) -> Iterator[Fact]:
    spec = CATALOGUE[call.layer]
    plain = spec.complete({})
    for name, value in call.params.items():
        if repr(value) == repr(plain.get(name)):
            continue
        if isinstance(value, Inner):
            yield Fact(call.layer, name, value.layer, f"{name}={value.layer}")
        elif isinstance(value, tuple) or (name in spec.params and spec.params[name].numeric):
            yield Fact(call.layer, name, ..., name)
        else:
            yield Fact(call.layer, name, value, f"{name}={value!r}")
    if spec.kind == "utility":
        return
    if call.types and USUAL_DTYPE in spec.dtypes and call.types[0].dtype != USUAL_DTYPE:
        yield Fact(call.layer, "dtype", call.types[0].dtype, call.types[0].dtype)
    if call.types and len(spec.ranks) > 1 and call.types[0].rank > min(spec.ranks):
        yield Fact(call.layer, "rank", call.types[0].rank, f"rank {call.types[0].rank}")
    if len(call.types) > max(spec.arity[0], 1):
        yield Fact(call.layer, "inputs", len(call.types), f"{len(call.types)} inputs")


def alias_of(finding: Finding, graph: Graph) -> str:
    """A name for a finding and what is odd at its node; empty where the node is not known."""
    node = graph.by_id.get(finding.node)
    if node is None or node.layer == INPUT:
        return ""
    facts = _facts(LayerCall(node.layer, graph.input_types(node), node.params))
    return " | ".join((finding.key, finding.data_kind, *(fact.text for fact in facts)))


def calls_at(graph: Graph, node: Node) -> Iterator[LayerCall]:
    """A node as a call, the calls inside it, its activations as calls of Activation and of the layers that they are,
    and half of a separable convolution as the depthwise one that it is."""
    types = graph.input_types(node)
    yield from _calls(LayerCall(node.layer, types, node.params))
    if node.layer.startswith("SeparableConv"):
        depthwise = CATALOGUE[node.layer.replace("Separable", "Depthwise")]
        shared = {name: value for name, value in node.params.items() if name in depthwise.params}
        yield LayerCall(depthwise.name, types, depthwise.complete(shared))
    names = activations_of(node.params)
    for name in names if node.layer != "Activation" else ():
        yield LayerCall("Activation", node.outputs[:1], CATALOGUE["Activation"].complete({"activation": name}))
    for name, layer in ACTIVATING.items():
        if name in names:
            yield LayerCall(layer, node.outputs[:1], CATALOGUE[layer].complete({}))
        elif layer == node.layer:
            yield LayerCall("Activation", types, CATALOGUE["Activation"].complete({"activation": name}))


def _calls(call: LayerCall) -> Iterator[LayerCall]:
    yield call
    spec = CATALOGUE[call.layer]
    for inner, types in spec.inner(spec.view(call.types, call.params), call.params) if call.types else ():
        if CATALOGUE[inner.layer].kind == "layer":
            yield from _calls(LayerCall(inner.layer, tuple(types), inner.params))


def covers(bug: Bug, finding: Finding, graph: Graph, manner: Manner = PLAIN) -> bool:
    """Whether a finding is likely a bug that is known: the same failure where the bug's condition holds.

    Reads only the two cases, so that a duplicate costs next to nothing.
    """
    if finding.symptom not in (bug.finding.symptom, *about(bug.finding.symptom).implies):
        return False
    if bug.finding.switch != finding.switch or not within(bug.minimal.manner, manner):
        return False
    contradicts = finding.symptom == RELATION.name != bug.finding.symptom  # what is wrong does so in many ways
    if contradicts and finding.evidence.get("raises"):
        return False
    if finding.defect and bug.finding.defect and not same_fix(finding.defect, bug.finding.defect):
        return False
    same_code = _same_code(bug, finding)
    if not same_code and (bug.finding.library, bug.finding.stage) != (finding.library, finding.stage):
        return False
    empty = any(kind.elements == 0 for node in graph.nodes for kind in node.outputs)
    if bug.data_kind in MATTERING and bug.data_kind != finding.data_kind and not (bug.data_kind == "empty" and empty):
        return False
    if same_rule(bug, finding):
        return True
    if not same_code and not contradicts and template(bug.finding.failure) != template(finding.failure):
        return False
    if "invalid" in (bug.data_kind, finding.data_kind):
        return bug.data_kind == finding.data_kind and kin((bug.finding.layer,)) == kin((finding.layer,))
    place, end = graph.by_id.get(finding.node), about(finding.symptom).end
    nodes = [place] if place is not None and end in ("values", "memory") else list(graph.nodes)
    calls = [call for node in nodes if node.layer != INPUT for call in calls_at(graph, node)]
    last = [node for node in bug.minimal.graph.nodes if node.layer != INPUT][-1]
    anywhere = last.layer == USUAL_LAYER and finding.layer == ""  # the reducer tried, and it was not the layer
    if end == "hang":  # it is the amount of work, not the parameters
        return any(kin((call.layer,)) == kin((last.layer,)) for call in calls)
    needed = [last]
    if end == "exception" and _CHECK.search(finding.detail):
        needed = [node for node in bug.minimal.graph.nodes if node.layer != INPUT and _odd(bug.minimal.graph, node)]
    return all(any(_holds(bug.minimal.graph, node, call, anywhere) for call in calls) for node in needed or [last])


def _odd(graph: Graph, node: Node) -> bool:
    """Whether a node of a reduced case is part of its condition."""
    return any(True for _ in _facts(LayerCall(node.layer, graph.input_types(node), node.params)))


def _same_code(bug: Bug, finding: Finding) -> bool:
    """Whether both fail in one function of a layer of Keras, which every backend and every trace runs.

    Where the frames of that function are lost, as on PyTorch, Keras still names the layer, and says the same.
    """
    if " in keras/src/layers/" not in bug.signature.failure:
        return False
    said = _CALLING.search(finding.failure) and template(finding.failure) == template(bug.finding.failure)
    return bool(said) or failure_of(finding) == bug.signature.failure


def same_rule(bug: Bug, finding: Finding) -> bool:
    """Whether a library fails in the same words over the same operator, whatever the layer that it comes from.

    Converters and runtimes have rules for operators, and know nothing of layers. A front end must name the operator,
    and one that broadcasts tells too little there: shapes that do not fit may have many reasons.
    """
    known, words, operator = bug.finding, essence(finding), operator_of(finding.detail)
    places = [(each.symptom, each.library, each.stage) for each in (known, finding)]
    if not about(finding.symptom).raises or places[0] != places[1]:
        return False
    if bug.blame.role.partition(" ")[0] not in ("converter", "runtime") and operator in ("", _BROADCASTING[0]):
        return False
    telling = len(words.split()) > WORDS and len(words) < CUT
    return telling and (words, operator) == (essence(known), operator_of(known.detail))


def essence(finding: Finding) -> str:
    """The type and the message of an exception, without what Keras puts around it, nor what follows from it."""
    kind = finding.failure.partition(":")[0]
    message = _LATER.sub(r"\1", _AROUND.sub(" ", finding.detail.partition(": ")[2]))
    return template(f"{kind}: {message}")


def operator_of(message: str) -> str:
    """The first operator that a message names; nothing if it names none."""
    found = _OPERATOR.search(message)
    name = next(filter(None, found.groups()), "") if found else ""
    return _BROADCASTING[0] if name in _BROADCASTING else name


def _holds(graph: Graph, node: Node, call: LayerCall, anywhere: bool) -> bool:
    """Whether a call meets the condition that a node of a reduced case has."""
    if kin((call.layer,)) != kin((node.layer,)) and not anywhere:
        return False
    types = graph.input_types(node)
    if any(kind.masked for kind in types) and not any(kind.masked for kind in call.types):
        return False
    own = {fact.name: fact.value for fact in _facts(call)}
    return all(
        fact.name in own
        and (fact.value is ... or own[fact.name] == fact.value or (fact.name in LEAST and own[fact.name] > fact.value))
        for fact in _facts(LayerCall(node.layer, types, node.params))
    )


def kin(layers: Sequence[str]) -> tuple[str, ...]:
    """Layers without their number of dimensions: what Conv1D does wrong, Conv2D often does too, for one reason."""
    return tuple(re.sub(r"[123]D", "#D", layer) for layer in layers)


def same_bug(one: Signature, two: Signature) -> bool:
    """Whether two signatures are one bug: all but the condition agree, and one condition holds the other.

    A reduction may end in a local minimum, with a parameter too much.
    """
    keys = [(each.library, each.stage, each.symptom, each.failure, each.switch) for each in (one, two)]
    if keys[0] != keys[1]:
        return False
    first, second = set(one.condition.split(", ")) - {""}, set(two.condition.split(", ")) - {""}
    return kin(one.layers) == kin(two.layers) and (first <= second or second <= first)
