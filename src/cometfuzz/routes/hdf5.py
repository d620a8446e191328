"""The child side of reading an HDF5 file that nobody trusts: texts among its attributes, and arrays by their place.

It is no route, and needs no Keras: h5py alone looks at the file, which is never written to disk. A request is a JSON
text among the tensors, so is the answer to a request for texts.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cometfuzz.protocol import WireTensor
from cometfuzz.routes import QUIET, Group, Library, Stage, Step, Work
from cometfuzz.routes.tensors import to_wire

GROUP = Group("hdf5", "main", QUIET)
READ = Step("hdf5", GROUP, __name__, "answer", (Stage("read", Library("h5py")),))


def start(options: Mapping[str, str]) -> Hdf5Adapter:
    """Import h5py."""
    import h5py

    return Hdf5Adapter(h5py)


class Hdf5Adapter:
    """Answers requests with an HDF5 file: {"texts": [NAME, ...]}, or {"places": [PLACE, ...]}."""

    def __init__(self, h5py: Any) -> None:
        self.h5py = h5py

    def versions(self) -> dict[str, str]:
        return {"h5py": self.h5py.__version__}

    def answer(self, work: Work, value: None) -> list[WireTensor]:
        request, stored = (tensor.data for tensor in work.inputs)
        asked = json.loads(request)
        work.enter("read")
        with work.library(), self.h5py.File(io.BytesIO(stored), "r") as file:
            self.check(file, len(stored))
            if "texts" in asked:
                data = json.dumps({name: _text(file, name) for name in asked["texts"]}).encode()
                return [WireTensor("uint8", (len(data),), data)]
            return [self._array(file, place) for place in asked["places"]]

    def check(self, file: Any, size: int) -> None:
        """Refuse what claims more than the file holds, or reads from elsewhere by a link or as external or virtual."""
        claimed = 0
        for name, link in _links(file):
            if not isinstance(link, self.h5py.HardLink):
                raise ValueError(f"expected weights inside the file; received a link at {name!r:.80}")
            item = file[name]
            if isinstance(item, self.h5py.Dataset):
                if item.external or item.is_virtual:
                    raise ValueError(f"expected weights inside the file; received data from elsewhere at {name!r:.80}")
                claimed += int(np.prod(item.shape or (), dtype=np.float64)) * item.dtype.itemsize
        if claimed > size:
            raise ValueError(f"expected at most as much data as the file has bytes ({size}); received {claimed}")

    def _array(self, file: Any, place: Mapping[str, Any]) -> WireTensor:
        if "path" in place:
            item, where = file, "/".join(place["path"])
            for part in place["path"]:  # an attribute of a private name is stored under it, or under the public one
                item = _member(item, part) or _member(item, f"_{part}")
        else:
            item, where = _in_row(file, place), f"{place['layer']}, {place['name']}"
        if not isinstance(item, self.h5py.Dataset):
            raise ValueError(f"expected weights at {where!r:.120}; received none")
        half = item.attrs.get("dtype") == "bfloat16"
        if item.dtype.kind != "f" and not half:
            raise ValueError(f"expected floats at {where!r:.120}; received dtype={str(item.dtype)!r:.40}")
        array = item[()]
        return to_wire(array, "bfloat16") if half else to_wire(array.astype(array.dtype.newbyteorder("=")))


def _member(item: Any, name: str) -> Any:
    return item.get(name) if hasattr(item, "keys") else None


def _in_row(file: Any, place: Mapping[str, Any]) -> Any:
    """One of the weights of a layer, which are in a row; its name must be as expected, so that none is mistaken."""
    layer = _member(_member(file, "model_weights"), place["layer"])
    names = _names(layer) if layer is not None else []
    if len(names) != place["count"]:
        raise ValueError(f"layer {place['layer']!r:.80}: expected {place['count']} weights; received {len(names)}")
    name = names[place["index"]]
    own = re.sub(r"_?\d*$", "", name.rsplit("/", 1)[-1].split(":")[0])
    # "kernel", where we say "forward_kernel" or "kernel_query"; Keras may have numbered it
    if not place["name"].endswith(own) and not place["name"].startswith(f"{own}_"):
        raise ValueError(f"layer {place['layer']!r:.80}: expected weight {place['name']}; received {name!r:.80}")
    return _member(layer, name)


def _names(layer: Any) -> Sequence[str]:
    """An attribute that may be too long for one: then it is cut into several, which are numbered."""
    key = "weight_names"
    parts = [key] if key in layer.attrs else [f"{key}{index}" for index in range(len(layer.attrs))]
    values = [value for part in parts if part in layer.attrs for value in np.atleast_1d(layer.attrs[part])]
    return [value.decode() if isinstance(value, bytes) else str(value) for value in values]


def _text(file: Any, name: str) -> str | None:
    value = file.attrs.get(name)
    value = value.decode() if isinstance(value, bytes) else value
    return str(value) if isinstance(value, str) else None


def _links(file: Any) -> Iterator[tuple[str, Any]]:
    """Every link, and those below it unless it leads away. No group may be there twice: it could hold itself."""
    waiting, seen, groups = [file], 0, set()
    while waiting:
        group = waiting.pop()
        if group in groups:  # h5py compares by what a name stands for
            raise ValueError(f"expected each group once; received another name for one, {group.name!r:.80}")
        groups.add(group)
        for name in group:
            seen += 1
            if seen > 100_000:
                raise ValueError("expected at most 100000 entries; received more")
            link = group.get(name, getlink=True)
            place = f"{group.name.rstrip('/')}/{name}"
            yield place, link
            if group.get(name, getclass=True).__name__ == "Group":
                waiting.append(group[name])
