"""How much one head can do: finished cases per CPU second of the head, and what the nodes make of more of them.

    .venv/bin/python experiments/cluster_head.py head [--cases 400] [--json]
    .venv/bin/python experiments/cluster_head.py nodes [--cases 24] [--workers 1,8] [--window 8] [--json]

`head`: all that a head does, with outcomes that cost nothing: a stand-in for the dispatch answers every part at once
with the bytes of a verdict, as a node packs them, so that the strategy, the forms, the store and the loop are what is
measured. `--dask`: the same with a real scheduler and node on this machine, whose routes do nothing.

`nodes`: a real scheduler and workers on this machine; a route sleeps for each part (SLEEP_S of the stand-ins) and takes
hardly any CPU time, so that workers are busy without cores. Sleeps are counted, not parts: some parts run again, up to
five times. They count from when all workers are at it until the last case is proposed: then some have nothing left to
do. Efficiency is how many times as many there are a second with so many workers as with the first number of them, for
each worker: ratios of one run, since absolute times depend on what else the machine does. `--cases` and `--window` are
for each worker. `asleep`: the share of the workers' time in which one slept.
`cores_used`: CPU seconds of head, scheduler, workers and their children by the seconds that passed, so that one sees
whether the machine's cores were the limit; `cpu_s_per_part`: the same for each part, starts of processes included.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from cometfuzz.campaign.events import CaseDone
from cometfuzz.campaign.session import Session, Settings, seed_texts
from cometfuzz.campaign.store import Store
from cometfuzz.cli import collector
from cometfuzz.config import Config, PolicyConfig
from cometfuzz.seeds.published import names, synthesised

TESTS = Path(__file__).parents[1] / "tests" / "cluster"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("head", "nodes"))
    parser.add_argument("--cases", type=int, default=0)
    parser.add_argument("--workers", default="1,8")
    parser.add_argument("--window", type=int, default=8)
    parser.add_argument("--strategy", default="directed")
    parser.add_argument("--dask", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    sys.path.insert(0, str(TESTS))
    collector.look_seldom()
    with TemporaryDirectory() as folder:
        if os.environ.get("COMETFUZZ_PLUGINS") != "standin":  # routes are looked up when the package is imported
            import_module("nodes").install(Path(folder) / "site")
            path = os.pathsep.join([str(Path(folder) / "site"), str(Path(__file__).parents[1] / "src")])
            own = {"PYTHONPATH": path, "COMETFUZZ_PLUGINS": "standin", "OMP_NUM_THREADS": "1"}
            own["STANDIN_SLEEPS"] = str(Path(folder) / "sleeps")
            again = [sys.executable, *sys.argv]
            sys.exit(
                subprocess.run(again, env={**os.environ, **own, "OPENBLAS_NUM_THREADS": "1"}, check=False).returncode
            )
        if arguments.what == "head":
            found = measure_head(Path(folder), arguments.cases or 400, arguments.strategy, arguments.dask)
        else:
            counts = [int(each) for each in arguments.workers.split(",")]
            found = measure_nodes(Path(folder), arguments.cases or 24, counts, arguments.window)
    print(json.dumps(found) if arguments.json else found)


def settings(route: str, cases: int, window: int, strategy: str) -> Settings:
    seeds = seed_texts([synthesised(name) for name in names()])
    return Settings(strategy, 1, (route,), seeds, window=window, branches=False, cases=cases)


def config(route: str) -> Config:
    policy = PolicyConfig(base=(route,), only=(route,), clear=(), converters=(), sampled=(), switched_one_in=10**6)
    return Config(policy=policy)


class Instant:
    """A dispatch whose nodes have answered as soon as they are asked."""

    def __init__(self) -> None:
        self.parts = 0
        self.report: Any = None
        self._answers: dict[tuple[str, ...], bytes] = {}
        """What a node would say of a part on some routes; to say it is the node's work, and done once here."""

    def ask(self, question: Any, among: Any = None) -> "Future[Any]":
        forms = import_module("cometfuzz.cluster.forms")
        forms.pack(question)
        if question.routes not in self._answers:
            self._answers[question.routes] = forms.pack(self._verdict(question.routes))
        promise: Future[Any] = Future()
        promise.set_result(forms.unpack(self._answers[question.routes], forms.Answer, "a node"))
        self.parts += 1
        return promise

    def _verdict(self, routes: Sequence[str]) -> Any:
        forms, judging = import_module("cometfuzz.cluster.forms"), import_module("cometfuzz.campaign.judging")
        determinism, events = import_module("cometfuzz.oracles.determinism"), import_module("cometfuzz.campaign.events")
        times = (("run", "standin", 0.01, 0.01, 1),)
        results = tuple(
            events.RouteResult(
                name, "completed", "run", "standin", 0.01, 0.01, "", None, {"standin": "1.0"}, 0.5, times
            )
            for name in routes
        )
        marks = {name: determinism.Fingerprint("completed", "run", ("0" * 32,)) for name in routes}
        judged = judging.Judged(results, (), 0.0, True, False, False, marks, "tls://10.0.0.1:40000")
        return forms.Verdict(judged, 0.01, 0.01)

    def alike(self, address: str) -> list[str]:
        return []

    def nodes(self) -> dict[str, Any]:
        return {}

    def news(self) -> dict[str, Any]:
        return {}

    def halt(self) -> None:
        pass


def measure_head(folder: Path, cases: int, strategy: str, dask: bool) -> dict[str, Any]:
    """Cases and parts per CPU second of this process."""
    routes = import_module("cometfuzz.execution.configuring").configured(config("instant"))
    executor = import_module("cometfuzz.cluster.executor")
    with running(1, 1, folder) if dask else nothing() as address:
        chosen = settings("instant", cases, 16, strategy)
        with Store.create(folder / "head", vars(chosen)) as store, dispatching(address, executor) as dispatch:

            def elsewhere(taken: Any, offers: Any) -> Any:
                return executor.ClusterExecutor(dispatch, taken, offers)

            with Session(store, chosen, config("instant"), routes, lambda done: None, elsewhere) as session:
                collector.leave_alone()  # as `cometfuzz run` does
                warm, began, wall, parts = 0, os.times(), 0.0, 0
                for event in session.events():
                    if isinstance(event, CaseDone):
                        if event.index == cases // 5:  # what is computed once does not count
                            warm, began, wall = event.index + 1, os.times(), time.monotonic()
                        parts += len(event.parts) if warm and event.index >= warm else 0
                ended, wall_s = os.times(), time.monotonic() - wall
    done, user_s, system_s = cases - warm, ended.user - began.user, ended.system - began.system
    cpu_s = user_s + system_s
    return {
        "cases": done,
        "parts": parts,
        "cpu_s": round(cpu_s, 2),
        "of_it_system_s": round(system_s, 2),
        "wall_s": round(wall_s, 2),
        "cases_per_cpu_s": round(done / cpu_s, 1),
        "bytes_per_case": round(sum(each.stat().st_size for each in (folder / "head").rglob("*")) / cases),
    }


@contextmanager
def nothing() -> Iterator[str]:
    yield ""


@contextmanager
def dispatching(address: str, executor: Any) -> Iterator[Any]:
    if not address:
        yield Instant()
        return
    access = import_module("cometfuzz.cluster.access").Access(address)
    with executor.connected(access, config("instant"), ("instant",), lambda text: None) as dispatch:
        yield dispatch


@contextmanager
def running(workers: int, threads: int, folder: Path) -> Iterator[str]:
    """A scheduler and so many workers on this machine's loopback; the address."""
    file = folder / f"scheduler-{workers}.json"
    log = open(folder / "dask.log", "ab")  # noqa: SIM115
    at = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--no-show", "--scheduler-file", str(file)]
    processes = [_dask("scheduler", at, log)]
    local = ["--local-directory", str(folder / "local"), "--no-dashboard", "--no-nanny"]
    each = ["--scheduler-file", str(file), "--nthreads", str(threads), *local]
    try:
        processes += [_dask("worker", [*each, "--name", str(number)], log) for number in range(workers)]
        while not file.exists():
            time.sleep(0.1)
        yield str(json.loads(file.read_text())["address"])
    finally:
        for process in reversed(processes):  # workers before their scheduler
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:  # a Dask worker now and then waits for tasks of its own for ever
                process.kill()
                process.wait()
        log.close()


def _dask(what: str, arguments: Sequence[str], log: Any) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *arguments]
    return subprocess.Popen(command, stdout=log, stderr=log)


def measure_nodes(folder: Path, cases: int, counts: Sequence[int], window: int) -> dict[str, Any]:
    """How much faster more workers are, on a route that sleeps."""
    sleeps: list[int] = []
    rates: list[float] = []
    used: list[float] = []
    each_s: list[float] = []
    for count in counts:
        cpu_s, began = _cpu_s(), time.monotonic()
        with running(count, 1, folder) as address:
            counted, rate, ran = _rate(folder / f"campaign-{count}", address, cases * count, window * count, count)
            wall_s = time.monotonic() - began
        cpu_s = _cpu_s() - cpu_s  # now that all have ended, theirs too
        sleeps.append(counted)
        rates.append(rate)
        used.append(round(cpu_s / wall_s, 2))
        each_s.append(round(cpu_s / ran, 2))
    efficiency = [round(rate / rates[0] * counts[0] / count, 3) for rate, count in zip(rates, counts, strict=True)]
    sleeps_s = import_module("standin").SLEEP_S
    return {
        "workers": list(counts),
        "window": [window * count for count in counts],
        "sleeps": sleeps,
        "sleeps_per_s": [round(rate, 3) for rate in rates],
        "asleep": [round(rate * sleeps_s / count, 3) for rate, count in zip(rates, counts, strict=True)],
        "efficiency": efficiency,
        "cores_used": used,
        "cpu_s_per_part": each_s,
        "sleeps_s": sleeps_s,
        "cores": os.cpu_count(),
        "load": [round(each, 1) for each in os.getloadavg()],
    }


def _cpu_s() -> float:
    """Of this process and all that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _rate(out: Path, address: str, cases: int, window: int, workers: int) -> tuple[int, float, int]:
    """How many sleeps there were while all workers were at it, how many a second, and all parts of the campaign."""
    routes = import_module("cometfuzz.execution.configuring").configured(config("sleeper"))
    executor = import_module("cometfuzz.cluster.executor")
    access = import_module("cometfuzz.cluster.access").Access(address)
    chosen = settings("sleeper", cases, window, "comet")
    with (
        executor.connected(access, config("sleeper"), ("sleeper",), lambda text: None) as dispatch,
        Store.create(out, vars(chosen)) as store,
    ):
        until = time.monotonic() + 60
        while len(dispatch.able) < workers and time.monotonic() < until:
            time.sleep(0.1)
        assert len(dispatch.able) == workers, f"{len(dispatch.able)} of {workers} workers came"

        def elsewhere(taken: Any, offers: Any) -> Any:
            return executor.ClusterExecutor(dispatch, taken, offers)

        with Session(store, chosen, config("sleeper"), routes, lambda done: None, elsewhere) as session:
            at: dict[int, tuple[float, int]] = {}
            ran = 0
            for event in session.events():
                if isinstance(event, CaseDone):
                    ran += len(event.parts)
                    at[event.index] = time.monotonic(), Path(os.environ["STANDIN_SLEEPS"]).stat().st_size
    (began, before), (ended, after) = at[workers], at[cases - window - 1]
    return after - before, (after - before) / (ended - began), ran


if __name__ == "__main__":
    main()
