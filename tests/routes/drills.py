"""A route for tests: needs numpy only, and misbehaves as its options say."""

import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from typing import Any


def start(options: Mapping[str, str]) -> "Drill":
    if options["drill"] == "never starts":
        raise SystemExit(3)
    if options["drill"] == "starts to hang":
        time.sleep(1000)
    return Drill(options["drill"])


class Drill:
    """Runs the identity, except on graphs whose first input has a batch of 1: there it drills."""

    def __init__(self, drill: str) -> None:
        self.drill = drill

    def versions(self) -> dict[str, str]:
        return {"drill": "1"}

    def build(self, work: Any, value: None) -> Any:
        work.enter("build")
        return {"a model": work.graph}

    def convert(self, work: Any, model: Any) -> bytes:
        work.enter("convert")
        return self._result(work).data

    def run(self, work: Any, model: Any) -> Any:
        work.enter("run")
        return [self._result(work)]

    def recall(self, work: Any, model: Any) -> Any:
        """Gives what memory held before: pieces of it are got, given back and got again, and nobody writes to them."""
        work.enter("recall")
        libc = ctypes.CDLL(None)
        libc.malloc.restype, libc.malloc.argtypes, libc.free.argtypes = (
            ctypes.c_void_p,
            [ctypes.c_size_t],
            [ctypes.c_void_p],
        )
        found = work.inputs[0]
        for _ in range(2):
            place = libc.malloc(len(found.data))
            found = found._replace(data=ctypes.string_at(place, len(found.data)))
            libc.free(place)
        return [found]

    def read(self, work: Any, artefact: bytes) -> Any:
        work.enter("read")
        return [self._result(work)._replace(data=artefact)]

    def _result(self, work: Any) -> Any:
        if self.drill and work.graph.inputs[0].outputs[0].shape[0] == 1:
            print("about to drill", flush=True)
            if "DRILLING" in os.environ:
                open(os.environ["DRILLING"], "w").close()
            DRILLS[self.drill]()
        return work.inputs[0]


def flood() -> None:
    for _ in range(2000):
        sys.stdout.write("x" * 1000)
    raise ValueError("after the flood")


def stream() -> None:
    while True:
        os.write(1, b"x" * 2**16)


def half_a_reply() -> None:
    os.write(reply_descriptor(), b"CMF1" + (1000).to_bytes(4, "little") + (1000).to_bytes(8, "little") + b"{")
    os._exit(0)


def reply_descriptor() -> int:
    return int(sys.argv[3])


def fill_the_disk() -> None:
    with open("/dev/full", "w") as file:
        file.write("x" * 2**16)


def fill_the_temp_folder() -> None:
    """Leaves it full: ENOSPC, for this step and for whatever comes after it in this child."""
    folder = tempfile.gettempdir()
    space = os.statvfs(folder)
    if space.f_blocks * space.f_frsize > 2**24:
        raise RuntimeError(f"expected a small file system; received folder={folder}")
    with open(os.path.join(folder, "filling"), "wb", buffering=0) as file:
        while True:
            file.write(b"x" * 2**12)


def loop_in_c() -> None:
    """Holds the interpreter's lock for ever: no Python code runs meanwhile."""
    sum(range(10**18))


def stop_with_a_child() -> None:
    """A child that nobody looks after, and no Python code that runs in this process any more."""
    subprocess.Popen(["sleep", "1000"])
    os.kill(os.getpid(), signal.SIGSTOP)


def hoard() -> None:
    hoarded = []
    while True:
        hoarded.append(bytearray(b"1") * 2**28)


def show_environ() -> None:
    raise ValueError(json.dumps({name: os.environ[name] for name in ("HOME", "CUDA_VISIBLE_DEVICES")}))


DRILLS = {
    "show environ": show_environ,
    "segfault": lambda: ctypes.string_at(0),
    "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "stop": lambda: os.kill(os.getpid(), signal.SIGSTOP),
    "stop with a child": stop_with_a_child,
    "abort": os.abort,
    "sleep": lambda: time.sleep(1000),
    "exit": lambda: os._exit(0),
    "system exit": lambda: sys.exit(5),
    "raise": lambda: [][1],
    "flood": flood,
    "hoard": hoard,
    "garbage": lambda: os.write(reply_descriptor(), b"I am not a message, I am a library." * 9),
    "print garbage": lambda: os.write(1, bytes(range(256)) * 40) and [][1],
    "stream": stream,
    "half a reply": half_a_reply,
    "disk": fill_the_disk,
    "full": fill_the_temp_folder,
    "loop": loop_in_c,
    "divide": lambda: os.kill(os.getpid(), signal.SIGFPE),
}
