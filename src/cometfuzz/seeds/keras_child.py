"""Questions to a Keras in a child process: the config of a published model, the weights of a saved one."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cometfuzz.catalogue.data import Data
from cometfuzz.catalogue.validate import assemble
from cometfuzz.errors import EnvironmentFailure, InvalidCase
from cometfuzz.execution import environments
from cometfuzz.execution.protocol import WireTensor
from cometfuzz.execution.supervisor import Worker
from cometfuzz.ir.graph import INPUT, Draft, Edge
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
    environment = environments.find(IMPORT.environment)
    if not environment.ready:
        raise EnvironmentFailure(f"expected the environment {IMPORT.environment}; run `cometfuzz env create`")
    blobs = (json.dumps(request).encode(), *blobs)
    names = [f"blob_{number}" for number in range(len(blobs))]
    graph = assemble([Draft(name, INPUT, {}, ()) for name in names], [Edge(names[0])])
    arrays = {name: np.frombuffer(blob, dtype=np.uint8) for name, blob in zip(names, blobs, strict=True)}
    with Worker(IMPORT, environment.python) as worker:
        outcome = worker.execute(graph, Data(arrays, {}), LIMIT_S)
    if outcome.status != "completed":
        raise InvalidCase(f"expected a model that Keras can read; received {outcome}")
    return outcome.outputs
