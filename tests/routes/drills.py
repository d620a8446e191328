"""A route for tests: needs numpy only, and misbehaves as its options say."""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Mapping
from typing import Any


def start(options: Mapping[str, str]) -> "Drill":
    if options["drill"] == "never starts":
        raise SystemExit(3)
    return Drill(options["drill"])


class Drill:
    """Runs the identity, except on graphs whose first input has a batch of 1: there it drills."""

    def __init__(self, drill: str) -> None:
        self.drill = drill

    def versions(self) -> dict[str, str]:
        return {"drill": "1"}

    def run(self, graph: Any, inputs: Any, weights: Any, tensors: Any, enter: Any) -> Any:
        enter("build")
        if graph.inputs[0].outputs[0].shape[0] == 1:
            enter("run")
            print("about to drill", flush=True)
            DRILLS[self.drill]()
        return list(tensors[:1])


def flood() -> None:
    for _ in range(2000):
        sys.stdout.write("x" * 1000)
    raise ValueError("after the flood")


def hoard() -> None:
    hoarded = []
    while True:
        hoarded.append(bytearray(b"1") * 2**28)


DRILLS = {
    "segfault": lambda: ctypes.string_at(0),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "stop": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "abort": os.abort,
    "sleep": lambda: time.sleep(1000),
    "exit": lambda: os._exit(0),
    "system exit": lambda: sys.exit(5),
    "raise": lambda: [][1],
    "flood": flood,
    "hoard": hoard,
    "garbage": lambda: os.write(int(sys.argv[4]), b"I am not a message, I am a library." * 9),
}
