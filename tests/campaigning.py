"""Synthetic campaigns: events as a loop would send them, from a Draw, without any library."""

from collections.abc import Iterator, Mapping
from typing import Any

from cometfuzz.campaign.events import CaseDone, Ended, Event, Executed, Notice, RouteResult, Started, Summary
from cometfuzz.draw import Draw
from cometfuzz.ir.case import Case
from cometfuzz.oracles.finding import Camp, DataKind, Finding, Symptom
from cometfuzz.seeds.small import lenet

BASE = ("keras-tf", "keras-torch")
DEAR = (
    *("keras-jax", "tf-graph", "tf-xla", "keras-saved", "tf-saved", "onnxruntime", "onnxruntime-noopt"),
    *("onnx-reference", "onnx2torch", "onnx2pytorch", "openvino", "litert", "torch-onnx", "keras-mxnet"),
)
SETTINGS = {
    "strategy": "comet",
    "seed": 1,
    "jobs": 2,
    "minutes": 10,
    "cases": None,
    "routes": (*BASE, *DEAR),
    "out": "campaigns/monday",
}
CASE = Case(lenet(), 1)
TOTALS = {
    "paper": {"inputs": (766, 648), "parameters": (2049, 1986), "sequences": (2170, 2170)},
    "full": {"inputs": (1112, 1112), "parameters": (1918, 1918), "sequences": (6736, 6736)},
}
OPERATORS = ("MDtype", "MDims", "MShape", "MParam", "IL", "ML", "CL", "SpecialI")


def covered(done: int) -> Summary:
    """A coverage that grows quickly, then slowly."""
    share = done / (done + 150)
    return {
        space: {
            name: {"covered": int(reachable * share), "total": total, "reachable": reachable}
            for name, (total, reachable) in criteria.items()
        }
        for space, criteria in TOTALS.items()
    }


def result(route: str, status: str = "completed", wall_s: float = 0.04, detail: str = "") -> RouteResult:
    return RouteResult(route, status, "run", "tensorflow", wall_s, wall_s, detail, None, {}, 0.5)


def finding(
    symptom: Symptom = "crash",
    library: str = "tensorflow",
    layer: str = "Conv2D",
    detail: str = "InvalidArgumentError: expected a positive stride",
    data_kind: DataKind = "ordinary",
    **more: Any,
) -> Finding:
    camps = (Camp(("keras-tf",), "InvalidArgumentError"), Camp(("keras-torch",), "completed"))
    return Finding("crash", symptom, data_kind, camps, "run", library, detail, layer=layer, **more)


def case_done(
    index: int, elapsed_s: float, *findings: Finding, results: tuple[RouteResult, ...] = (), **more: Any
) -> CaseDone:
    part = Executed(0, CASE, f"{index:064x}", results or (result("keras-tf"),), 0.1, findings)
    fields: dict[str, Any] = {
        "operator": OPERATORS[index % 8],
        "nodes": 20 + index % 9,
        "feedback": {"executed": True},
        "gained": {"paper": index % 3, "full": index % 4},
        "coverage": covered(index + 1),
        "by_route": {"keras-tf": covered(index + 1), "onnxruntime": covered(index // 4)},
        "branches": {"covered": 3000 + index, "total": 19644},
        "operators": {
            name: {"attempts": index + place, "applied": index, "fitness": (place + 1) / (9 + index % 3)}
            for place, name in enumerate(OPERATORS)
        },
    }
    return CaseDone(
        index=index, case_id=f"{index:064x}", parts=(part,), elapsed_s=elapsed_s, case=CASE, **{**fields, **more}
    )


FOUND = (
    finding(),
    finding("nonfinite", "torch", "LayerNormalization", "NaN at 3 of 24 places where the others have numbers"),
    finding("value", "onnxruntime", "ConvLSTM2D", "output 0 is off by 1.3e+04 bounds", data_kind="overflow"),
    finding("death", "openvino", "MaxPooling3D", "signal SIGSEGV", data_kind="empty"),
    finding("shape", "tf2onnx", "Conv1DTranspose", "expected (1, 7, 3); received (1, 8, 3)"),
    finding("unsupported", "tf2onnx", "ConvLSTM3D", "NotImplementedError"),
    finding("crash", "keras", "Bidirectional", "ValueError: known", defect="keras-team/keras 12345"),
    finding("hang", "jax", "SeparableConv2D", "60 s, the others at most 0.2 s", data_kind="special"),
    finding("crash", "litert", "UpSampling2D", "\x1b[31mRuntimeError\x1b[0m: [red]tensor 3 is [bold]gone"),
)


def campaign(cases: int, seed: int = 1, settings: Mapping[str, Any] = SETTINGS) -> Iterator[Event]:
    """A whole campaign: two cases a second, a finding now and then, a route that is paused."""
    yield Started(settings, 0, covered(0))
    elapsed_s = 20.0
    for index in range(cases):
        draw = Draw(seed, "screen", index)
        elapsed_s += 0.2 + 0.6 * draw.fraction()
        routes = (*BASE, *DEAR) if index % 4 == 1 else BASE
        results = tuple(_drawn(route, index, draw) for route in routes)
        findings = [draw.choice(FOUND)] if draw.chance(0.15) else []
        yield case_done(index, elapsed_s, *findings, results=results)
        if index == cases // 2:
            yield Notice("keras-mxnet: paused, signal 10 times in a row: SIGSEGV")
    yield Ended("minutes", cases, elapsed_s, covered(cases), 14.0, 410.0)


def _drawn(route: str, index: int, draw: Draw) -> RouteResult:
    if route == "keras-mxnet" and index > 100:
        return result(route, "unavailable", 0.0, "paused")
    kinds = ["completed"] * 40 + ["exception", "timeout", "signal", *["not reached"] * (route in DEAR)]
    return result(route, draw.choice(kinds), (0.03 if route in BASE else 0.6) * (0.5 + draw.fraction()))
