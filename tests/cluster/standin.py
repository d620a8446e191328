"""Routes for tests of a cluster, as a package that head and nodes have: the reference, and what their names say.

What the child imports: no library, numpy only. A drill strikes on a few graphs, by a number of their text, so that it
is always the same ones.
"""

import os
import signal
import time
import zlib

from cometfuzz.execution.reference import ReferenceAdapter
from cometfuzz.routes import QUIET, Group, Library, Route, Stage, Step
from cometfuzz.routes.trackers import Tracker

LIBRARY = Library("standin", "Stand-in", Tracker("https://example.org/standin/issues"))
SHARED = Group("standin", "tool", QUIET)
SLEEP_S = float(os.environ.get("STANDIN_SLEEP_S", "2"))
ONE_IN = int(os.environ.get("STANDIN_ONE_IN", "23"))
"""Of so many graphs one kills its node."""


def _route(name, call="run", group=SHARED):
    step = Step(name, group, "standin", call, (Stage("run", LIBRARY),), {"who": name})
    return Route(name, f"a stand-in: {name}", "", (step,))


ONE, TWO = _route("one"), _route("two")
SLEEPER = _route("sleeper", "sleep")
KILLER = _route("killer", "kill", Group("standin-killer", "tool", QUIET))
TWISTED = _route("twisted", "twist")
WRONG = _route("wrong", "refuse")
INSTANT = _route("instant", "echo")


def start(options):
    return Standin()


class Standin(ReferenceAdapter):
    """The reference under another name."""

    def versions(self):
        return {"standin": "1.0"}

    def sleep(self, work, value):
        """Takes its time, and little of the CPU's. Whoever wants to know how often names a file for a byte each."""
        if "STANDIN_SLEEPS" in os.environ:
            with open(os.environ["STANDIN_SLEEPS"], "ab") as file:
                file.write(b".")
        time.sleep(SLEEP_S)
        return self.run(work, value)

    def kill(self, work, value):
        """On a few graphs it takes its node along: the process that has started it."""
        if number(work.graph) % ONE_IN == 0:
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(60)
        return self.run(work, value)

    def twist(self, work, value):
        """On a machine that is not what it should be it has another bit."""
        outputs = self.run(work, value)
        return [_twisted(each) for each in outputs] if "STANDIN_TWISTED" in os.environ else outputs

    def echo(self, work, value):
        """The outcome of a route that takes no time."""
        work.enter("run")
        return []

    def refuse(self, work, value):
        """A library that has no Dense."""
        work.enter("run")
        if any(node.layer == "Dense" for node in work.graph.nodes):
            raise ValueError("Dense is beyond us")
        return self.run(work, value)


def number(graph):
    return zlib.crc32(" ".join(f"{node.layer}{node.outputs}" for node in graph.nodes).encode())


def _twisted(tensor):
    data = bytearray(tensor.data)
    if data:
        data[0] ^= 1
    return tensor._replace(data=bytes(data))
