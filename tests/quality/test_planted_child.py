"""What the child of planted routes can be asked, and that every fault can show."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faults import FAULTS, KNOWN, POINTS, SETTINGS, Fault
from faults.memory import LIBC
from harness import DECLARED, executing, planted_ledger, routes_of
from planted import Planted

from cometfuzz.catalogue.data import draw_data, to_tensor
from cometfuzz.catalogue.drawing import TARGET, draw_layer
from cometfuzz.catalogue.spec import spec_of
from cometfuzz.catalogue.validate import assemble
from cometfuzz.execution.executor import wire_data
from cometfuzz.ir.case import Case
from cometfuzz.ir.graph import INPUT, Draft, Edge, Graph, Node
from cometfuzz.protocol import WireTensor
from cometfuzz.routes.keras_types import StaticTypeMismatch

M_PERTURB = -6
DRAWS = 20


class Work:
    """A case as a child has it."""

    def __init__(self, case: Case) -> None:
        tensors, header = wire_data(case.graph, draw_data(case))
        count = len(header["inputs"])
        self.graph, self.inputs = case.graph, tensors[:count]
        self.weights: dict[str, Sequence[WireTensor]] = {}
        for node, size in header["weights"]:
            self.weights[node] = tensors[count : count + size]
            count += size

    def enter(self, stage: str) -> None:
        """Nobody listens."""


def asked(work: Work, fault: Fault | None, options: dict[str, str], call: str = "run") -> list[WireTensor]:
    """What a model with a fault in its stage gives."""
    faulty = Planted({**options, "fault": fault.name} if fault else options)
    stage, value = fault.stage.split()[-1] if fault else "run", Planted({}).build(work, None)
    if stage == "run":
        return getattr(faulty, call)(work, value)  # type: ignore[no-any-return]
    return Planted({}).run(work, getattr(faulty, stage)(work, None if stage == "build" else value))


def with_special_values(case: Case) -> Case:
    """The first input with NaN at its beginning and Inf at its end."""
    (name, array), *_ = draw_data(case).inputs.items()
    if array.dtype.kind in "ib":
        return case
    array, some = array.copy(), array.size // 4
    array.reshape(-1)[:some], array.reshape(-1)[array.size - some :] = np.nan, np.inf
    return replace(case, data={name: to_tensor(array)})


def test_there_are_enough_faults_for_every_point() -> None:
    counts = Counter(fault.point for fault in FAULTS.values())
    assert sum(counts.values()) >= 64
    assert counts.keys() == POINTS.keys()
    assert min(counts.values()) >= 4


@pytest.mark.parametrize("name", [name for name, each in FAULTS.items() if each.point and not each.unchecked])
def test_a_fault_can_show(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault that never shows would be no fault. Memory is poisoned while we look."""
    fault, options, call = FAULTS[name], dict[str, str](), "run"
    if fault.switched is not None:
        switch, value = fault.switched
        assert value in SETTINGS[switch]
        call = value if switch == "call" else call
        monkeypatch.setenv(switch, value) if switch.isupper() else options.update({switch: value})
    LIBC.mallopt(M_PERTURB, 0x5A if fault.point == 7 else 0)
    try:
        assert any(differs(fault, case, options, call) for case in drawn(fault))
    finally:
        LIBC.mallopt(M_PERTURB, 0)


def drawn(fault: Fault) -> list[Case]:
    cases = [draw_layer(layer, 1, index).case for layer in fault.layers or ("Activation",) for index in range(DRAWS)]
    if not fault.layers:
        cases = [activation_case(name) for name in fault.activations]
    return [with_special_values(case) for case in cases] if fault.point == 3 else cases


def activation_case(name: str) -> Case:
    drafts = [
        Draft("x", INPUT, {"shape": (2, 9)}, ()),
        Draft(TARGET, "Activation", {"activation": name}, (Edge("x"),)),
    ]
    return Case(assemble(drafts, [Edge(TARGET)]), 1)


def differs(fault: Fault, case: Case, options: dict[str, str], call: str) -> bool:
    work = Work(case)
    try:
        for _ in range(2):  # what a first call leaves behind shows in the second
            seen = asked(work, fault, options, call)
    except (StaticTypeMismatch, RuntimeError):
        return True
    return [tensor.data for tensor in seen] != [tensor.data for tensor in asked(work, None, {})]


def test_unwritten_memory_is_plausible_unless_it_is_poisoned() -> None:
    """In a process of its own: what an earlier test has left in memory is not plausible."""
    program = (
        "from cometfuzz.catalogue.drawing import draw_layer\n"
        "from faults import FAULTS\n"
        "from test_planted_child import DRAWS, differs\n"
        "cases = [draw_layer('ZeroPadding2D', 1, index).case for index in range(DRAWS)]\n"
        "assert not any(differs(FAULTS['border-unwritten'], case, {}, 'run') for case in cases)\n"
    )
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    subprocess.run([sys.executable, "-c", program], env=environ, check=True)


def broken(layer: str, rule: str, shapes: Sequence[tuple[int, ...]], **params: Any) -> Graph:
    """A call that breaks one rule of its layer; nobody knows the types of what it gives, so they are the input's."""
    drafts = [Draft(f"x{index}", INPUT, {"shape": shape}, ()) for index, shape in enumerate(shapes)]
    inputs = assemble(drafts, [Edge("x0")]).nodes
    edges = tuple(Edge(node.id) for node in inputs)
    node = Node(TARGET, layer, spec_of(layer).complete(params), edges, inputs[0].outputs)
    assert spec_of(layer).broken_rules([each.outputs[0] for each in inputs], node.params) == [rule]
    return Graph((*inputs, node), (Edge(TARGET),))


BROKEN = {
    "window-too-large": broken("MaxPooling1D", "pool fits", [(2, 2, 3)], pool_size=(4,)),
    "groups-round-down": broken("Conv1D", "groups divide channels", [(2, 4, 3)], groups=2, filters=4),
    "reshape-repeats": broken("Reshape", "same number of elements", [(2, 3)], target_shape=(4,)),
    "crop-of-everything": broken("Cropping1D", "something is left", [(2, 3, 1)], cropping=(2, 2)),
    "permute-some-axes": broken("Permute", "one entry for each axis", [(2, 3, 4)], dims=(1,)),
    "concatenate-reads-on": broken("Concatenate", "shapes agree but for the axis", [(2, 3, 4), (2, 5, 4)], axis=-1),
}


@pytest.mark.parametrize("name", [name for name, fault in FAULTS.items() if fault.unchecked])
def test_what_breaks_a_rule_is_refused_but_by_one(name: str) -> None:
    graph, fault = BROKEN[name], FAULTS[name]
    work: Any = type("Work", (Work,), {"__init__": lambda self: None})()
    tensors = [np.ones(node.outputs[0].shape, np.float32) for node in graph.inputs]
    work.graph, work.weights = graph, {}
    work.inputs = [WireTensor("float32", array.shape, array.tobytes()) for array in tensors]
    with pytest.raises(ValueError, match=fault.unchecked):
        Planted({}).build(work, None)
    model = Planted({"fault": name}).build(work, None)
    if not fault.deadly:
        assert len(Planted({}).run(work, model)) == 1


def test_predict_takes_some_samples_at_a_time_and_agrees() -> None:
    drafts = [Draft("x", INPUT, {"shape": (5, 4)}, ()), Draft(TARGET, "Dense", {"units": 3}, (Edge("x"),))]
    work = Work(Case(assemble(drafts, [Edge(TARGET)]), 1))
    assert asked(work, None, {"batch_size": "2"}, "predict") == asked(work, None, {})


def test_the_planted_ledger_stands_against_the_front_end_and_excuses_what_is_behind_it() -> None:
    """As the real one does: the faults of point 1 stand behind what is known of the front end."""
    routes = [*DECLARED, *(route for fault in FAULTS.values() if fault.point == 1 for route in routes_of(fault))]
    assert {rule.id for rule in planted_ledger()} == KNOWN.keys()
    with executing(routes) as executor:
        for fault in (each for each in FAULTS.values() if each.point == 1):
            (layer,) = fault.layers
            assert executor.view.rules_of("front", layer)
            assert executor.view.rules_of(routes_of(fault)[0].name, layer, base=True)
