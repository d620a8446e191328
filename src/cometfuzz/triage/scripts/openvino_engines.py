"""How a script runs a model on OpenVINO that came by another front end than that of ONNX."""

import json

from cometfuzz.errors import NoScript
from cometfuzz.routes.openvino import OPTIONS
from cometfuzz.triage.scripts.pieces import ARRAYS, Engine

_Piece = tuple[str, tuple[str, ...]]


def on_openvino(network: str, given: str, outputs: int, before: tuple[_Piece, ...], named: bool = False) -> Engine:
    """Once `before` is done, OpenVINO reads the expression `network` and runs it on the expression `given`.

    named: whether several outputs have the names of a SavedModel's, by which they are had; else they keep their order.
    """
    call = f"compiled({given})"
    if outputs == 1:
        call += "[0]"
    elif named:
        names = ", ".join(f'"output_{index}"' for index in range(outputs))
        call = f"map({call}.__getitem__, [{names}])"
    else:
        call += ".values()"
    return Engine(
        call,
        ARRAYS,
        ("import openvino",),
        standard=("import os", "import tempfile"),
        versions={"openvino": "openvino.__version__"},
        pieces=(
            *before,
            ("load", ("core = openvino.Core()", f"network = {network}")),
            ("compile", (f"options = {json.dumps(OPTIONS)}", 'compiled = core.compile_model(network, "CPU", options)')),
        ),
    )


def expect_one(what: str, count: int) -> None:
    """NoScript where a front end gives outputs names of its own, and there are several."""
    if count != 1:
        raise NoScript(f"expected one output of {what}; received outputs={count}")
