"""Bugs made by hand, without any library."""

from typing import Any

from trials import chain

from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import case_id
from cometfuzz.oracles.finding import Camp, Finding
from cometfuzz.triage.bug import Blame, Bug, Signature


def finding(route: str, symptom: str = "value", stage: str = "run", library: str = "torch", **more: Any) -> Finding:
    camps = (Camp((route,), "wrong"), Camp(("keras-tf", "keras-jax"), "within the bound"))
    values = {"detail": "expected 2 within 1e-06; received 1.75", **more}
    return Finding("oracle", symptom, "ordinary", camps, stage, library, **values)  # type: ignore[arg-type]


def bug(case: Case, found: Finding, title: str = "a title", role: str = "Keras, torch backend") -> Bug:
    layers = tuple(node.layer for node in case.graph.nodes if not node.layer.islower())
    return Bug(
        Signature(found.library, found.stage, found.symptom, layers, found.failure, "padding='same'"),
        title,
        found.data_kind,
        found,
        Blame(found.library, found.stage, role, "Only there it fails.", 0.9),
        case,
        case_id(case),
        case,
        case_id(case),
        3,
        3,
        versions={"keras": "3.15.1", "torch": "2.13.0"},
    )


def pooling() -> Case:
    return chain((1, 4, 1), ("AveragePooling1D", {"pool_size": (4,), "strides": (1,), "padding": "same"}))
