"""The only judge of validity: types a graph and lists every violation by the name of its rule."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from cometfuzz.catalogue.spec import CATALOGUE, LayerSpec
from cometfuzz.errors import InvalidCase
from cometfuzz.ir.graph import Draft, Edge, Graph, Inner, Node, Params
from cometfuzz.ir.types import MAX_RANK, POLICIES, POLICY, UNKNOWN, TensorType

VALUE_OF = "value of "
"""Begins the name of the rule that a parameter lies in its space."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule at one node."""

    node: str
    rule: str
    detail: str

    def __str__(self) -> str:
        return f"node {self.node!r} breaks {self.rule!r}: {self.detail}"


def check(drafts: Iterable[Draft], outputs: Sequence[Edge]) -> tuple[Graph | None, list[Violation]]:
    """The typed graph, or None, and all violations. Nodes below an untypable one are not judged on its output."""
    violations: list[Violation] = []
    nodes: dict[str, Node | None] = {}
    for draft in drafts:
        if draft.id in nodes:
            violations.append(Violation(draft.id, "ids are unique", f"received id={draft.id!r} twice"))
        nodes[draft.id] = type_draft(draft, nodes, violations)
    for edge in outputs:
        if edge.node not in nodes:
            violations.append(Violation(edge.node, "outputs exist", f"received node={edge.node!r}"))
        else:
            source = nodes[edge.node]
            if source is not None and not 0 <= edge.output < len(source.outputs):
                violations.append(Violation(edge.node, "outputs exist", f"received output={edge.output}"))
    if not outputs:
        violations.append(Violation("", "outputs exist", "received none"))
    if violations:
        return None, violations
    return Graph(tuple(node for node in nodes.values() if node is not None), tuple(outputs)), []


def validate(graph: Graph) -> list[Violation]:
    """Everything that is wrong with a graph; an empty list if it is valid."""
    typed, violations = check(graph.drafts, graph.outputs)
    if typed is not None:
        for node in graph.nodes:
            predicted = typed.by_id[node.id]
            if predicted.outputs != node.outputs:
                detail = f"expected {_texts(predicted.outputs)}; received {_texts(node.outputs)}"
                violations.append(Violation(node.id, "types are as the catalogue predicts", detail))
            if predicted.params != node.params:
                violations.append(Violation(node.id, "parameters are complete", "received some missing"))
    return violations


def assemble(drafts: Iterable[Draft], outputs: Sequence[Edge]) -> Graph:
    """A valid graph, or InvalidCase with every violation in it."""
    graph, violations = check(drafts, outputs)
    if graph is None:
        raise InvalidCase("; ".join(map(str, violations)))
    return graph


def assemble_breaking(drafts: Sequence[Draft], outputs: Sequence[Edge], rule: str) -> Graph:
    """A graph whose last node breaks one rule and no other, so that nobody knows what comes out; else InvalidCase.

    Of values outside of their space, only those will do that `Space.wrong` names: a file must not ask for huge ones.
    """
    *valid, last = drafts
    nodes: dict[str, Node | None] = {}
    violations: list[Violation] = []
    for draft in valid:
        nodes[draft.id] = type_draft(draft, nodes, violations)
    if violations:
        raise InvalidCase("; ".join(map(str, violations)))
    type_draft(last, nodes, violations)
    if [violation.rule for violation in violations] != [rule] or last.layer not in CATALOGUE:
        received = "; ".join(map(str, violations)) or "none"
        raise InvalidCase(f"expected the last node to break {rule!r} and nothing else; received {received}")
    if tuple(outputs) != (Edge(last.id),):
        raise InvalidCase(f"expected one output, the first of {last.id!r}; received {len(outputs)} others")
    spec = CATALOGUE[last.layer]
    params = spec.complete(last.params)
    if rule.startswith(VALUE_OF):
        _expect_wrong(spec, rule.removeprefix(VALUE_OF), params)
    node = Node(last.id, last.layer, params, last.inputs, (UNKNOWN,))
    return Graph((*(node for node in nodes.values() if node is not None), node), tuple(outputs))


def _expect_wrong(spec: LayerSpec, name: str, params: Params) -> None:
    wrong = spec.params[name].wrong() if name in spec.params else ()
    if repr(params.get(name)) not in map(repr, wrong):  # by its text, since True is not 1
        raise InvalidCase(f"expected {_any_of(map(repr, wrong))} as {name}; received {name}={params.get(name)!r:.80}")


def type_draft(draft: Draft, nodes: Mapping[str, Node | None], violations: list[Violation]) -> Node | None:
    """The node with its types, given all nodes before it; else None, and every broken rule in `violations`."""

    def broken(rule: str, detail: str) -> None:
        violations.append(Violation(draft.id, rule, detail))

    spec = CATALOGUE.get(draft.layer)
    if spec is None or spec.kind == "cell":
        broken("layer is in the catalogue", f"received layer={draft.layer!r}")
        return None
    before = len(violations)
    params, problems = (
        _judge_params(draft.layer, draft.params)
        if isinstance(draft.params, Params)
        else _judged(draft.layer, draft.params)
    )
    for rule, detail in problems:
        broken(rule, detail)
    low, high = spec.arity
    if spec.states is not None and len(draft.inputs) > high:
        high = len(draft.inputs)  # a rule says whether they are the initial states
    if not low <= len(draft.inputs) <= high:
        broken("number of inputs", f"expected {low} to {high}; received {len(draft.inputs)}")
    types: list[TensorType] = []
    for edge in draft.inputs:
        source = nodes.get(edge.node)
        if edge.node not in nodes:
            broken("inputs exist", f"expected an earlier node; received node={edge.node!r}")
        elif source is not None and not 0 <= edge.output < len(source.outputs):
            broken("inputs exist", f"expected one of {len(source.outputs)} outputs; received output={edge.output}")
        elif source is not None:
            types.append(source.outputs[edge.output])
    if len(violations) > before or len(types) < len(draft.inputs):
        return None
    result = type_call(draft.layer, tuple(types), params)
    if isinstance(result, list):
        for rule, detail in result:
            broken(rule, detail)
        return None
    return Node(draft.id, draft.layer, params, draft.inputs, result)


def _judged(layer: str, given: Mapping[str, Any]) -> tuple[Params, list[tuple[str, str]]]:
    """Complete parameters, and (rule, detail) for what is wrong with them."""
    params = CATALOGUE[layer].complete(given)
    return params, _parameter_problems(CATALOGUE[layer], params)


_judge_params = lru_cache(maxsize=10_000)(_judged)
"""The same, remembered: mutants share most of their nodes with what they were made of."""


@lru_cache(maxsize=10_000)
def type_call(
    layer: str, types: tuple[TensorType, ...], params: Params
) -> tuple[TensorType, ...] | list[tuple[str, str]]:
    """The output types of a layer call whose parameters lie in their spaces, or a list of (rule, detail)."""
    spec = CATALOGUE[layer]
    if types:
        first = types[0]
        if first.rank not in spec.ranks:
            return [("rank", f"expected rank {_any_of(spec.ranks)}; received {first}")]
        if spec.cast(types, params)[0].dtype not in spec.dtypes:
            return [("dtype", f"expected dtype {_any_of(spec.dtypes)}; received {first}")]
    names = spec.broken_rules(types, params)
    if names:
        return [(name, f"received {_texts(types)} and {_shown(spec, params)}") for name in names]
    outputs = spec.outputs(types, params)
    problems = [
        ("output shape", f"expected sizes from 0 and rank up to {MAX_RANK}; received {output}")
        for output in outputs
        if output.rank > MAX_RANK or min(output.shape, default=0) < 0
    ]
    return problems or outputs


def _parameter_problems(spec: LayerSpec, params: Params, within: str = "") -> list[tuple[str, str]]:
    problems = []
    for name, value in params.items():
        if name == POLICY and not within:
            if value not in POLICIES:
                detail = f"expected {name} to be {_any_of(POLICIES)}; received {name}={value!r}"
                problems.append((f"{VALUE_OF}{name}", detail))
            continue
        space = spec.params.get(name)
        if space is None:
            problems.append(("parameter exists", f"expected {_any_of(spec.params)}; received {within}{name}={value!r}"))
            continue
        expected = space.problem(value)
        if expected is not None:
            detail = f"expected {within}{name} to be {expected}; received {name}={value!r}"
            problems.append((f"{VALUE_OF}{within}{name}", detail))
            continue
        for inner in value if isinstance(value, tuple) else (value,):
            if isinstance(inner, Inner):
                problems += _parameter_problems(CATALOGUE[inner.layer], inner.params, f"{within}{name}.")
    return problems


def _any_of(names: Iterable[object]) -> str:
    return " or ".join(map(str, names)) or "none"


def _texts(types: Iterable[TensorType]) -> str:
    return ", ".join(map(str, types)) or "no input"


def _shown(spec: LayerSpec, params: Params) -> str:
    """The parameters that differ from the simplest ones; the others rarely explain anything."""
    plain = {name: space.simplest for name, space in spec.params.items()}
    parts = [f"{name}={value!r}" for name, value in params.items() if value != plain.get(name)]
    return ", ".join(parts) or "default parameters"
