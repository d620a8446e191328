"""Keras configs and .keras files as Keras 3 writes them, made without Keras."""

import json
import zipfile
from pathlib import Path
from typing import Any


def tensor(layer: str, call: int = 0, output: int = 0) -> dict[str, Any]:
    config = {"shape": [None, 4], "dtype": "float32", "keras_history": [layer, call, output]}
    return {"class_name": "__keras_tensor__", "config": config}


def layer(kind: str, name: str, *reads: Any, module: str = "keras.layers", kwargs: Any = None, **config: Any) -> Any:
    nodes = [{"args": [reads[0] if len(reads) == 1 else list(reads)], "kwargs": kwargs or {}}] if reads else []
    full = {"name": name, "trainable": True, "dtype": "float32", **config}
    return {
        "module": module,
        "class_name": kind,
        "config": full,
        "registered_name": None,
        "name": name,
        "inbound_nodes": nodes,
    }


def entry(shape: list[int | None], dtype: str = "float32", name: str = "x") -> Any:
    return layer("InputLayer", name, batch_shape=shape, dtype=dtype, sparse=False, ragged=False)


def functional(*layers: Any, inputs: Any = None, outputs: Any = None) -> dict[str, Any]:
    config = {
        "name": "model",
        "layers": list(layers),
        "input_layers": inputs or [layers[0]["name"], 0, 0],
        "output_layers": outputs or [layers[-1]["name"], 0, 0],
    }
    return {"module": "keras.src.models.functional", "class_name": "Functional", "config": config}


def sequential(*layers: Any, **config: Any) -> dict[str, Any]:
    return {
        "module": "keras",
        "class_name": "Sequential",
        "config": {"name": "model", "layers": list(layers), **config},
    }


def save(path: Path, config: Any, weights: bytes = b"", version: str = "3.9.0", **more: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("metadata.json", json.dumps({"keras_version": version}))
        archive.writestr("config.json", config if isinstance(config, bytes | str) else json.dumps(config))
        archive.writestr("model.weights.h5", weights)
        for name, data in more.items():
            archive.writestr(name, data)
    return path


def old_layer(kind: str, name: str, *reads: Any, **config: Any) -> Any:
    """A layer as Keras 2 writes it into an .h5 file; what it reads is [layer, call, output, arguments]."""
    full = {"name": name, "trainable": True, "dtype": "float32", **config}
    return {"class_name": kind, "config": full, "name": name, "inbound_nodes": [list(reads)] if reads else []}


def old_entry(shape: list[int | None], dtype: str = "float32", name: str = "x") -> Any:
    return old_layer("InputLayer", name, batch_input_shape=shape, dtype=dtype, sparse=False, ragged=False)


def old_functional(*layers: Any, outputs: Any = None, name: str = "model") -> dict[str, Any]:
    config = {
        "name": name,
        "layers": list(layers),
        "input_layers": [[layers[0]["name"], 0, 0]],
        "output_layers": outputs or [[layers[-1]["name"], 0, 0]],
    }
    return {"class_name": "Model", "config": config}
