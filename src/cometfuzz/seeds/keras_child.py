"""Questions to a child process: to Keras for the config of a published model, to h5py for parts of an HDF5 file."""

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from cometfuzz.errors import InvalidCase, WorkerFailure
from cometfuzz.execution.executor import python_of
from cometfuzz.execution.outcome import MAX_SHOWN
from cometfuzz.execution.supervisor import Worker
from cometfuzz.protocol import Message, WireTensor
from cometfuzz.routes import Step
from cometfuzz.routes.hdf5 import READ
from cometfuzz.routes.importing import IMPORT

LIMIT_S = 120.0


def application(name: str) -> Mapping[str, Any]:
    """The config of a model of keras.applications, made without weights: nothing is downloaded."""
    (answer,) = _ask(IMPORT, {"application": name})
    config: Mapping[str, Any] = json.loads(answer.data)
    return config


def stored_texts(data: bytes, names: Sequence[str]) -> Mapping[str, str | None]:
    """Attributes of an HDF5 file; None for what is not there, or no text."""
    (answer,) = _ask(READ, {"texts": list(names)}, data)
    texts: Mapping[str, str | None] = json.loads(answer.data)
    return texts


def stored_tensors(data: bytes, places: Sequence[Mapping[str, Any]]) -> Sequence[WireTensor]:
    """Arrays out of an HDF5 file, each by its place."""
    return _ask(READ, {"places": list(places)}, data)


def _ask(step: Step, request: Mapping[str, Any], *blobs: bytes) -> Sequence[WireTensor]:
    """One request to a fresh child, which lives within the supervisor's limits of time and memory."""
    tensors = [WireTensor("bytes", (len(blob),), blob) for blob in (json.dumps(request).encode(), *blobs)]
    plain: dict[str, Any] = {
        "module": step.module,
        "call": step.call,
        "options": {},
        "after": None,
        "given": None,
        "wanted": False,
    }
    graph: dict[str, Any] = {"nodes": [], "outputs": []}
    header = {"graph": graph, "inputs": [""] * len(tensors), "weights": [], "steps": [plain]}
    with Worker(step.group, python_of(step.group), [step.module]) as worker:
        result = worker.perform(Message(header, tensors), [step], time.monotonic() + LIMIT_S).results[0]
    library = step.stages[0].library
    if result.status == "unavailable":
        raise WorkerFailure(f"expected a {library} that starts; received {result.detail}: see `cometfuzz doctor`")
    if result.status != "completed":
        seen = f"{result.status} {result.detail}" if result.failure is None else result.failure.message
        raise InvalidCase(f"expected what {library} can read; received {' '.join(seen.split())[:MAX_SHOWN]}")
    return result.tensors
