"""Questions to a Keras in a child process: the config of a published model, the weights of a saved one."""

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from cometfuzz.errors import InvalidCase, WorkerFailure
from cometfuzz.execution.executor import python_of
from cometfuzz.execution.outcome import MAX_SHOWN
from cometfuzz.execution.protocol import Message, WireTensor
from cometfuzz.execution.supervisor import Worker
from cometfuzz.routes.importing import IMPORT

LIMIT_S = 120.0


def application(name: str) -> Mapping[str, Any]:
    """The config of a model of keras.applications, made without weights: nothing is downloaded."""
    (answer,) = _ask({"application": name})
    config: Mapping[str, Any] = json.loads(answer.data)
    return config


def stored_weights(config: bytes, stored: bytes, layers: Sequence[Sequence[str]]) -> list[list[WireTensor]]:
    """The weights of each named layer, in Keras' order, out of an HDF5 file that nobody trusts."""
    counts, *tensors = _ask({"layers": [list(names) for names in layers]}, config, stored)
    rest = iter(tensors)
    return [[next(rest) for _ in range(count)] for count in json.loads(counts.data)]


def _ask(request: Mapping[str, Any], *blobs: bytes) -> Sequence[WireTensor]:
    """One request to a fresh child, which lives within the supervisor's limits of time and memory."""
    tensors = [WireTensor("bytes", (len(blob),), blob) for blob in (json.dumps(request).encode(), *blobs)]
    step: dict[str, Any] = {
        "module": IMPORT.module,
        "call": IMPORT.call,
        "options": {},
        "after": None,
        "given": None,
        "wanted": False,
    }
    graph: dict[str, Any] = {"nodes": [], "outputs": []}
    header = {"graph": graph, "inputs": [""] * len(tensors), "weights": [], "steps": [step]}
    with Worker(IMPORT.group, python_of(IMPORT.group), [IMPORT.module]) as worker:
        result = worker.perform(Message(header, tensors), [IMPORT], time.monotonic() + LIMIT_S).results[0]
    if result.status == "unavailable":
        raise WorkerFailure(f"expected a Keras that starts; received {result.detail}")
    if result.status != "completed":
        seen = f"{result.status} {result.detail}" if result.failure is None else result.failure.message
        raise InvalidCase(f"expected a model that Keras can read; received {' '.join(seen.split())[:MAX_SHOWN]}")
    return result.tensors
