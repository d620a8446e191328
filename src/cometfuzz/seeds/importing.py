"""A user's own model: a .keras file -> a Case.

The parent reads the config with the standard library and translates it; no class of the file is looked up, no code of
it runs. Weights are HDF5, which needs a library: a child process reads them, in Keras' safe mode, and only after every
layer of the config has been understood here.
"""

import math
from pathlib import Path
from typing import Any

import msgspec

from cometfuzz.catalogue.data import expected_tensors, weight_shapes
from cometfuzz.errors import InvalidCase
from cometfuzz.ir.case import Case, Tensor
from cometfuzz.ir.codec import MAX_BYTES
from cometfuzz.ir.types import BYTES_OF
from cometfuzz.seeds.archive import CONFIG, WEIGHTS, open_archive
from cometfuzz.seeds.keras_child import stored_weights
from cometfuzz.seeds.keras_config import MODELS, Translated, translate


def import_model(path: Path, weights: bool = False, open_size: int | None = None, rng_seed: int = 0) -> Case:
    """The model in a file; with `weights`, the tensors of the case are the stored ones instead of drawn ones."""
    archive = open_archive(path)
    config = archive.read(CONFIG)
    try:
        translated = translate(_model(config), open_size)
        data = _data(translated, config, archive.read(WEIGHTS)) if weights else {}
    except InvalidCase as error:
        raise InvalidCase(f"{path}: {error}") from None
    return Case(translated.graph, rng_seed, data)


def _model(config: bytes) -> dict[str, Any]:
    try:
        model = msgspec.json.decode(config)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidCase(f"expected {CONFIG} to be JSON; received {error!r:.120}") from None
    if not isinstance(model, dict) or model.get("class_name") not in MODELS:
        kind = model.get("class_name") if isinstance(model, dict) else model
        raise InvalidCase(f"expected a {' or '.join(MODELS)} model, which says how it is built; received {kind!r:.80}")
    return model


def _data(translated: Translated, config: bytes, stored: bytes) -> dict[str, Tensor]:
    graph = translated.graph
    expected = expected_tensors(graph)
    nodes = [node for node in graph.nodes if weight_shapes(graph, node)]
    keys = {node.id: [f"{node.id}/{name}" for name in weight_shapes(graph, node)] for node in nodes}
    size = sum(math.prod(expected[key][1]) * BYTES_OF[expected[key][0]] for found in keys.values() for key in found)
    if size * 4 // 3 > MAX_BYTES - 2**20:
        raise InvalidCase(f"expected weights that fit into a case file of {MAX_BYTES} bytes; received bytes={size}")
    data: dict[str, Tensor] = {}
    found = stored_weights(config, stored, [translated.layers[node.id] for node in nodes])
    for node, tensors in zip(nodes, found, strict=True):
        seen, wanted = [tensor[:2] for tensor in tensors], [expected[key] for key in keys[node.id]]
        if seen != wanted:
            raise InvalidCase(f"layer {node.id!r}: expected weights {wanted}; received {seen}")
        data |= {key: Tensor(*tensor) for key, tensor in zip(keys[node.id], tensors, strict=True)}
    return data
