"""Shares of the CPU time: dear routes get a case when they are behind."""

import pytest

from cometfuzz.config import PolicyConfig
from cometfuzz.execution.budget import Budget, shares_of
from cometfuzz.routes.registry import ROUTES

NAMES = ("keras-tf", "keras-torch", "keras-jax", "onnxruntime", "openvino", "tf-xla")
TAKEN = {name: ROUTES[name] for name in NAMES}


def cost(name: str) -> float:
    return sum(step.cpu_s for step in ROUTES[name].steps)


def test_what_routes_share_is_charged_in_equal_parts() -> None:
    budget = Budget(PolicyConfig(), TAKEN)
    budget.charge(["keras-tf"])
    assert budget.spent["keras-tf"] == pytest.approx(cost("keras-tf"))
    budget.charge(["onnxruntime", "openvino"])
    assert budget.spent["onnxruntime"] < cost("onnxruntime")
    pairs = [zip(ROUTES[name].keys, ROUTES[name].steps, strict=True) for name in ("onnxruntime", "openvino")]
    steps = dict(pair for each in pairs for pair in each)
    both = budget.spent["onnxruntime"] + budget.spent["openvino"]
    assert both == pytest.approx(sum(step.cpu_s for step in steps.values()))
    before = budget.spent["keras-tf"]
    budget.charge(["keras-tf+no-onednn", "keras-numpy"])
    assert budget.spent["keras-tf"] == pytest.approx(before + cost("keras-tf"))


def test_every_route_gets_its_share_in_the_long_run_however_dear() -> None:
    budget = Budget(PolicyConfig(dear=0.2), TAKEN)
    assert not budget.behind
    for _ in range(20_000):
        behind = budget.behind
        budget.charge(["keras-tf", "keras-torch"])
        for name in behind:
            budget.charge([name])
    total = sum(budget.spent.values())
    for name, share in budget.shares.items():
        assert budget.spent[name] / total == pytest.approx(share, rel=0.02)


def test_shares_are_equal_but_for_what_is_said() -> None:
    some = ("onnxruntime", "openvino", "tf-xla", "keras-tf")
    assert shares_of(PolicyConfig(), some) == dict.fromkeys(("onnxruntime", "openvino", "tf-xla"), 0.2)
    policy = PolicyConfig(dear=0.3, shares={"openvino": 0.1, "litert": 0.9})
    assert shares_of(policy, some) == pytest.approx({"onnxruntime": 0.1, "openvino": 0.1, "tf-xla": 0.1})
    assert shares_of(PolicyConfig(shares={"tf-xla": 0.9}), some)["openvino"] == 0.0
