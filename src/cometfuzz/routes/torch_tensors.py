"""Tensors between numpy and PyTorch, and a Keras model as a module of PyTorch, in the child."""

from __future__ import annotations

from typing import Any

from cometfuzz.protocol import WireTensor
from cometfuzz.routes import Work
from cometfuzz.routes.calls import flat
from cometfuzz.routes.handing import arranged
from cometfuzz.routes.tensors import to_wire


def to_torch(torch: Any, array: Any) -> Any:
    """An array as a tensor; numpy's bfloat16 is unknown to PyTorch."""
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view("int16")).view(torch.bfloat16)
    return torch.from_numpy(array)


def to_wire_tensors(results: Any) -> list[WireTensor]:
    """Tensors as they go to the parent."""
    named = [(str(value.dtype).replace("torch.", ""), value.detach()) for value in flat(results)]
    arrays = [(dtype, value.float().numpy() if dtype == "bfloat16" else value.numpy()) for dtype, value in named]
    return [to_wire(array, dtype) for dtype, array in arrays]


def be_deterministic(torch: Any) -> None:
    """Have PyTorch prefer what gives the same bits each time; an older release cannot only prefer it."""
    try:
        torch.use_deterministic_algorithms(True, warn_only=True)
    except TypeError:
        torch.use_deterministic_algorithms(False)


def as_module(torch: Any, work: Work, model: Any) -> Any:
    """A Keras model as a module that takes its inputs one by one and gives its outputs as a tuple."""

    class Flat(torch.nn.Module):  # type: ignore[misc]
        def forward(self, *given: Any) -> tuple[Any, ...]:
            return tuple(flat(model(arranged(work, given), training=False)))

    module = Flat()
    module.model = model
    return module.eval()
