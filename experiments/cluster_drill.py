"""Is anything lost on a cluster? A campaign runs on nodes in network namespaces while faults happen to them, as root.

    .venv/bin/python experiments/cluster_drill.py [--faults 40] [--nodes 2] [--seed 1] [--json]

Faults are drawn from FAULTS; each comes after one or two more finished cases, and heals some seconds later. Cases that
kill whatever node they meet come by themselves. A head that has ended or was killed is resumed. In the end, no case
that was said to be finished is missing, none is there twice, coverage equals a recount from the stored cases, the cases
and outcomes are those of a campaign to which nothing happened, and no process is left on any node. Stops with an
AssertionError if one of these does not hold.
"""

import argparse
import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.progress import Progress

from cometfuzz.campaign.records import Records
from cometfuzz.draw import Draw

TESTS = Path(__file__).parents[1] / "tests"
FAULTS = ("kill worker", "kill node", "stop", "cut", "scheduler", "head", "bare node", "full disk")
"""A Dask worker killed, its nanny too, stopped for seconds, its link down, the scheduler killed, the head killed, a
node that comes without an environment, a full folder for temporary files."""

SHARES = (8, 5, 7, 6, 3, 4, 3, 4)
DRAWN = [fault for fault, share in zip(FAULTS, SHARES, strict=True) for _ in range(share)]
ROUTES = ("one", "killer")
SILENT_S = 150
"""How long nothing may be heard of a campaign."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=40)
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    sys.path[:0] = [str(TESTS / "cluster"), str(TESTS / "routes")]
    began = time.monotonic()
    with (
        TemporaryDirectory() as folder,
        Progress(console=Console(stderr=True), transient=True, disable=arguments.json) as progress,
    ):
        bar = progress.add_task("faults", total=arguments.faults)
        with Drill(Path(folder), arguments.nodes, arguments.seed) as drill:
            summary = drill.run(arguments.faults, lambda: progress.advance(bar))
    summary["seconds"] = round(time.monotonic() - began)
    print(json.dumps(summary) if arguments.json else summary)


class Drill:
    """A cluster, a campaign on it, and what happens to them."""

    def __init__(self, folder: Path, nodes: int, seed: int) -> None:
        self.folder, self.seed, self.draw = folder, seed, Draw("cluster drill", seed)
        self.nodes = [f"node{number}" for number in range(nodes)]
        self.cluster = import_module("nodes").Cluster(folder, list(ROUTES), wait_s=90.0, patience_s=20.0)
        self.said: list[tuple[int, str]] = []
        self.ends: list[int] = []
        self.healing: list[tuple[float, Callable[[], None]]] = []
        self.heads: list[subprocess.Popen[str]] = []
        self.heard = time.monotonic()
        self.lines: queue.SimpleQueue[tuple[int, str | None]] = queue.SimpleQueue()

    def __enter__(self) -> "Drill":
        return self

    def __exit__(self, *error: object) -> None:
        for head in self.heads:
            head.kill()
        self.cluster.close()
        for name in self.nodes:
            subprocess.run(["umount", "-l", str(self.folder / f"temporary-{name}")], check=False, capture_output=True)

    def run(self, faults: int, show: Callable[[], None]) -> dict[str, Any]:
        """All faults, the end of the campaign, and what it came to."""
        self.cluster.start_scheduler()
        for name in self.nodes:
            self._start_node(name)
        self._begin()
        happened: Counter[str] = Counter()
        for _ in range(faults):
            self._cases(self.draw.integer(1, 2))
            fault = self.draw.choice(DRAWN)
            getattr(self, "_" + fault.replace(" ", "_"))()
            happened[fault] += 1
            show()
        self._expect_scheduler()
        self._heal(all_of_it=True)
        self._start_anew()
        cases = len({index for index, _ in self.said}) + 5
        self._end_head(signal.SIGINT)
        killed = self.folder / "killed"
        self._finish(["resume", str(killed), "--cases", str(cases)])
        deaths = self._check(killed)
        whole = self.folder / "whole"
        self._finish([*self._run(whole), "--cases", str(cases)])
        ran = import_module("killing").what_ran
        assert ran(killed) == ran(whole), "a campaign to which nothing happened has other cases or outcomes"
        assert findings(killed) == findings(whole), "a campaign to which nothing happened has other findings"
        for name in (*self.nodes, "bare"):
            if name in self.cluster.processes:
                self.cluster.stop(name, signal.SIGTERM)
        until = time.monotonic() + 10
        while (left := [each for name in self.cluster.addresses for each in self._left(name)]) and (
            time.monotonic() < until
        ):
            time.sleep(0.2)
        assert not left, f"processes that are left on nodes: {left}"
        return {"faults": faults, **happened, "cases": cases, "deaths_of_nodes": deaths, "ended_heads": self.ends}

    def _left(self, name: str) -> list[Path]:
        return self.cluster.left(name) if name != "scheduler" else []

    def _check(self, folder: Path) -> int:
        """Nothing is lost, doubled or miscounted; how many parts are recorded as deaths of nodes."""
        killed = import_module("killing").Killed(folder, begin=[], go_on=[], said=sorted(set(self.said)))
        killed.check()
        with Records(folder) as records:
            return len({(ran.index, ran.part) for ran in records.outcomes() if ran.result.stage == "node"})

    def _run(self, out: Path) -> list[str]:
        chosen = ["--seed", str(self.seed), "--window", "8", "--routes", ",".join(ROUTES), "--out", str(out)]
        return ["run", *chosen]

    def _begin(self) -> None:
        """Begin the campaign, or go on with it."""
        folder = self.folder / "killed"
        arguments = ["resume", str(folder)] if folder.exists() else self._run(folder)
        command = self.cluster.command(*arguments, "--json", "--cluster", self.cluster.address)
        with open(self.folder / "head.log", "a") as log:
            head = subprocess.Popen(
                command, cwd=self.folder, env=self._environ(), stdout=subprocess.PIPE, stderr=log, text=True
            )
        self.heads.append(head)
        self.heard = time.monotonic()
        threading.Thread(target=self._listen, args=[len(self.heads) - 1, head], daemon=True).start()

    def _environ(self) -> dict[str, str]:
        found: dict[str, str] = self.cluster.environ(STANDIN_ONE_IN="151")
        return found

    def _listen(self, number: int, head: "subprocess.Popen[str]") -> None:
        assert head.stdout is not None
        for line in head.stdout:
            self.lines.put((number, line))
        head.wait()
        self.lines.put((number, None))

    def _cases(self, count: int) -> None:
        """Wait until so many cases more are finished; heal meanwhile, and resume a head that has ended."""
        while count:
            self._heal()
            try:
                number, line = self.lines.get(timeout=0.2)
            except queue.Empty:
                assert time.monotonic() - self.heard < SILENT_S, "nothing is heard of the campaign"
                continue
            self.heard = time.monotonic()
            count -= self._take(number, line)

    def _take(self, number: int, line: str | None) -> int:
        """What a head says; 1 if it says that a case is finished."""
        if line is None:
            code = self.heads[number].returncode
            self.ends.append(code)
            assert code in (3, -signal.SIGKILL, 130), f"a head ended with code {code}: see head.log"
            if number == len(self.heads) - 1:
                self._expect_scheduler()
                self._begin()
            return 0
        with contextlib.suppress(ValueError):  # a line that was cut off by a kill
            event = json.loads(line)
            if event["event"] == "case":
                self.said.append((event["index"], event["case_id"]))
                return 1
        return 0

    def _end_head(self, number: int) -> None:
        head = self.heads[-1]
        head.send_signal(number)
        head.wait()
        time.sleep(0.5)
        while True:
            try:
                which, line = self.lines.get_nowait()
            except queue.Empty:
                break
            if line is not None:
                self._take(which, line)

    def _finish(self, arguments: list[str]) -> None:
        """Let a campaign come to its end, without any fault."""
        ended = self.cluster.run(
            *arguments, "--json", "--cluster", self.cluster.address, timeout=600, STANDIN_ONE_IN="151"
        )
        assert ended.returncode == 0, ended.stderr
        for line in ended.stdout.splitlines():
            event = json.loads(line)
            if event["event"] == "case" and arguments[0] == "resume":
                self.said.append((event["index"], event["case_id"]))

    def _heal(self, all_of_it: bool = False) -> None:
        """What is due to be mended; in the end all, each at its time. Nodes that have ended by themselves, since their
        scheduler or their link had gone, are started again, as whoever runs a cluster does."""
        for name in self.nodes if "scheduler" in self.cluster.processes else ():
            process = self.cluster.processes.get(name)
            if process is not None and process.poll() is not None:
                self._start_node(name)
        while self.healing and (all_of_it or min(at for at, _ in self.healing) < time.monotonic()):
            at, mend = min(self.healing, key=lambda each: each[0])
            self.healing.remove((at, mend))
            time.sleep(max(0.0, at - time.monotonic()))
            mend()

    def _later(self, low_s: float, high_s: float, mend: Callable[[], None]) -> None:
        self.healing.append((time.monotonic() + low_s + (high_s - low_s) * self.draw.fraction(), mend))

    def _some_node(self) -> str:
        return self.draw.choice(self.nodes)

    def _start_node(self, name: str) -> None:
        """A node with a small folder of its own for temporary files."""
        place = self.folder / f"temporary-{name}"
        if not place.exists():
            place.mkdir()
            subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(place)], check=True)
        self.cluster.start_node(name, TMPDIR=str(place), STANDIN_ONE_IN="151")

    def _start_anew(self) -> None:
        """All nodes, as whoever runs a cluster does in the end: a Dask worker that has lost its scheduler may end much
        later, or stay and never come back. Their children must end by themselves."""
        for name in self.nodes:
            if name in self.cluster.processes:
                self._stop_node(name)
            self._start_node(name)

    def _stop_node(self, name: str) -> None:
        """Kill a node, nanny and worker and all."""
        pids = [int(path.name) for path in self.cluster.left(name) if b"distributed" in _command(path)]
        self.cluster.stop(name)
        for pid in [*pids, *self.cluster.workers(name)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _expect_scheduler(self) -> None:
        if "scheduler" not in self.cluster.processes:
            self.cluster.start_scheduler()

    def _kill_worker(self) -> None:
        for pid in self.cluster.workers(self._some_node()):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _kill_node(self) -> None:
        name = self._some_node()
        if name in self.cluster.processes:
            self._stop_node(name)
            self._later(1, 6, lambda: self._start_node(name))

    def _stop(self) -> None:
        stopped = self.cluster.workers(self._some_node())
        for pid in stopped:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
        self._later(2, 8, lambda: _continue(stopped))

    def _cut(self) -> None:
        name = self._some_node()
        self.cluster.network.cut(name)
        self._later(2, 8, lambda: self.cluster.network.cut(name, down=False))

    def _scheduler(self) -> None:
        """The head is to end with a clear error, and is resumed on a new scheduler; nodes come back to it."""
        self.cluster.stop("scheduler")
        self.heads[-1].wait(120)

    def _head(self) -> None:
        self.heads[-1].kill()
        self.heads[-1].wait()

    def _bare_node(self) -> None:
        if "bare" not in self.cluster.processes:
            self.cluster.start_node("bare", COMETFUZZ_CACHE=str(self.folder / "nothing"))
            self._later(5, 10, lambda: self.cluster.stop("bare", signal.SIGTERM))

    def _full_disk(self) -> None:
        filling = self.folder / f"temporary-{self._some_node()}" / "filling"
        with contextlib.suppress(OSError), open(filling, "wb", buffering=0) as file:
            while True:
                file.write(bytes(2**12))
        self._later(3, 8, lambda: filling.unlink(missing_ok=True))


def _command(path: Path) -> bytes:
    try:
        return path.joinpath("cmdline").read_bytes()
    except OSError:
        return b""


def _continue(pids: list[int]) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def findings(folder: Path) -> list[tuple[object, ...]]:
    """What a campaign has found, by place."""

    def each() -> Iterator[tuple[object, ...]]:
        with Records(folder) as records:
            for found in records.findings():
                yield found.index, found.part, found.finding.key

    return sorted(each(), key=repr)


if __name__ == "__main__":
    main()
