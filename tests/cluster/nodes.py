"""A Dask cluster for tests: a head, a scheduler and nodes, each in a network namespace with an address of its own.

It takes root and iproute2. What a test starts is ended with it, namespaces and links included; all that was started has
`token` among its environment variables, so that one can look for what is left.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from cometfuzz.campaign.records import Records
from cometfuzz.campaign.replay import recount

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
NETWORK = "10.211.7"
POLICY = """
[policy]
base = [{base}]
clear = []
only = []
converters = []
sampled = []
switched_one_in = 1000000
options_one_in = 1000000

[cluster]
ca = "ca.pem"
cert = "head.pem"
key = "head-key.pem"
wait_s = {wait_s}
patience_s = {patience_s}
idle_s = 3
"""
START_S = 60.0


def install(site: Path) -> None:
    """The stand-in routes as an installed package."""
    site.mkdir(exist_ok=True)
    shutil.copy(HERE / "standin.py", site)
    declared = site / "standin-1.dist-info"
    declared.mkdir(exist_ok=True)
    (declared / "METADATA").write_text("Metadata-Version: 2.1\nName: standin\nVersion: 1\n")
    names = ("one", "two", "sleeper", "killer", "twisted", "wrong", "instant")
    points = "\n".join(f"{name} = standin:{name.upper()}" for name in names)
    (declared / "entry_points.txt").write_text(f"[cometfuzz.routes]\n{points}\n")


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


class Network:
    """Namespaces joined by a bridge in one more of them; the machine's own network is left alone."""

    def __init__(self, token: str) -> None:
        self.token, self.made = token, []
        self._join("hub")
        ip("-n", self.name("hub"), "link", "add", "br0", "type", "bridge")
        ip("-n", self.name("hub"), "link", "set", "br0", "up")

    def name(self, member: str) -> str:
        return f"{self.token}-{member}"

    def _join(self, member: str) -> None:
        ip("netns", "add", self.name(member))
        self.made.append(member)
        ip("-n", self.name(member), "link", "set", "lo", "up")

    def join(self, member: str) -> str:
        """A namespace of its own for a member; its address."""
        self._join(member)
        number = len(self.made) - 1
        hub, address = self.name("hub"), f"{NETWORK}.{number}"
        inner, outer = "eth0", f"port{number}"
        ip("-n", hub, "link", "add", outer, "type", "veth", "peer", "name", inner, "netns", self.name(member))
        ip("-n", hub, "link", "set", outer, "master", "br0", "up")
        ip("-n", self.name(member), "addr", "add", f"{address}/24", "dev", inner)
        ip("-n", self.name(member), "link", "set", inner, "up")
        return address

    def cut(self, member: str, down: bool = True) -> None:
        """Take the link of a member down, or up again."""
        number = self.made.index(member)
        ip("-n", self.name("hub"), "link", "set", f"port{number}", "down" if down else "up")

    def close(self) -> None:
        for member in self.made:
            with contextlib.suppress(subprocess.CalledProcessError):
                ip("netns", "del", self.name(member))


def certificates(folder: Path) -> None:
    """A certificate authority, and a certificate for everybody, as docs/cluster.md makes them."""
    subprocess.run([str(ROOT / "docs" / "certificates.sh"), str(folder), "head"], check=True, capture_output=True)


class Cluster:
    """Scheduler and nodes as processes in their namespaces, and commands of the head in another one."""

    def __init__(self, folder: Path, base: Sequence[str], wait_s: float = 60.0, patience_s: float = 60.0) -> None:
        self.folder, self.token = folder, f"cf{os.getpid() % 100000}"
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.network = Network(self.token)
        self.addresses = {"scheduler": self.network.join("scheduler"), "head": self.network.join("head")}
        install(folder / "site")
        certificates(folder)
        names = ", ".join(f'"{name}"' for name in base)
        (folder / "cometfuzz.toml").write_text(POLICY.format(base=names, wait_s=wait_s, patience_s=patience_s))

    @property
    def address(self) -> str:
        return f"tls://{self.addresses['scheduler']}:8786"

    def environ(self, **more: str) -> dict[str, str]:
        path = os.pathsep.join([str(self.folder / "site"), str(ROOT / "src")])
        quick = {
            "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "15s",
            "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "15s",
            "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "10s",
            "DASK_DISTRIBUTED__WORKER__MEMORY__TERMINATE": "False",
        }
        own = {
            "PYTHONPATH": path,
            "COMETFUZZ_PLUGINS": "",
            "CLUSTER_TEST": self.token,
            "COLUMNS": "100",
            "TERM": "dumb",
        }
        return {**os.environ, **quick, **own, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **more}

    def start(self, member: str, command: Sequence[str], **environ: str) -> "subprocess.Popen[bytes]":
        """A process of a member, in its namespace; its output is kept beside."""
        inside = ["ip", "netns", "exec", self.network.name(member), *command]
        with open(self.folder / f"{member}.log", "ab") as log:
            process = subprocess.Popen(
                inside, cwd=self.folder, env=self.environ(**environ), stdout=log, stderr=log, start_new_session=True
            )
        self.processes[member] = process
        return process

    def tls(self) -> list[str]:
        files = {"ca-file": "ca.pem", "cert": "head.pem", "key": "head-key.pem"}
        return [part for name, file in files.items() for part in (f"--tls-{name}", str(self.folder / file))]

    def start_scheduler(self) -> None:
        at = ["--host", f"tls://{self.addresses['scheduler']}:8786", "--no-dashboard", "--no-show"]
        self.start("scheduler", [sys.executable, "-m", "distributed.cli.dask_scheduler", *at, *self.tls()])

    def start_node(self, name: str, **environ: str) -> None:
        """A node with one thread, watched by Dask's nanny."""
        if name not in self.addresses:
            self.addresses[name] = self.network.join(name)
        threads = ["--nthreads", "1", "--no-dashboard", "--host", f"tls://{self.addresses[name]}"]
        local = self.folder / f"local-{name}"
        command = [sys.executable, "-m", "distributed.cli.dask_worker", self.address, *threads, *self.tls()]
        self.start(name, [*command, "--local-directory", str(local)], **environ)

    def command(self, *arguments: str) -> list[str]:
        """A command of the head, to be run in its namespace."""
        return ["ip", "netns", "exec", self.network.name("head"), sys.executable, "-P", "-m", "cometfuzz", *arguments]

    def run(self, *arguments: str, timeout: float = 300.0, **environ: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            self.command(*arguments),
            cwd=self.folder,
            env=self.environ(**environ),
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def stop(self, member: str, number: int = signal.SIGKILL) -> None:
        """Kill a member with its process group: nanny, worker and all."""
        process = self.processes.pop(member)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        process.wait()

    def workers(self, member: str) -> list[int]:
        """The processes of a node that are Dask workers, without their nanny."""
        found = []
        for each in self.left(member):
            if b"multiprocessing" in each.joinpath("cmdline").read_bytes() and b"spawn_main" in (
                each.joinpath("cmdline").read_bytes()
            ):
                found.append(int(each.name))
        return found

    def left(self, member: str = "") -> list[Path]:
        """Our processes that are alive, of a member or all, as places in /proc."""
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                environ = path.joinpath("environ").read_bytes()
                if f"CLUSTER_TEST={self.token}".encode() not in environ:
                    continue
                if not member or self._inside(path, member):
                    found.append(path)
        return found

    def _inside(self, path: Path, member: str) -> bool:
        with contextlib.suppress(OSError):
            return os.stat(path / "ns" / "net").st_ino == os.stat(f"/run/netns/{self.network.name(member)}").st_ino
        return False

    def close(self) -> list[Path]:
        """End everything; what was left on the nodes a moment after they were told to end."""
        for member in list(self.processes):
            self.stop(member, signal.SIGTERM if member != "scheduler" else signal.SIGKILL)
        until = time.monotonic() + 10
        while (left := self.left()) and time.monotonic() < until:
            time.sleep(0.2)
        for path in left:
            with contextlib.suppress(OSError, ValueError):
                os.kill(int(path.name), signal.SIGKILL)
        self.network.close()
        return left


@contextlib.contextmanager
def cluster(folder: Path, nodes: int, base: Sequence[str], **more: float) -> Iterator[Cluster]:
    """A cluster with so many nodes."""
    made = Cluster(folder, base, **more)
    try:
        made.start_scheduler()
        for number in range(nodes):
            made.start_node(f"node{number}")
        yield made
    finally:
        made.close()


def events(printed: str) -> list[Mapping[str, object]]:
    """The events of a campaign that printed them as lines of JSON."""
    return [json.loads(line) for line in printed.splitlines() if line.startswith("{")]


def what_ran(folder: Path) -> list[tuple[object, ...]]:
    """Every outcome of a campaign with its case's id, status and digests of outputs; the folder is sound."""
    with Records(folder) as records:
        assert records.check() == []
        assert recount(records) == records.coverage
        statuses = {(each.index, each.part, each.result.route): each.result.status for each in records.outcomes()}
        ids = {(each.index, each.part): each.case_id for each in records.outcomes()}
        digests = {(each.index, each.part): dict(each.digests) for each in records.ran_on()}
    return [(*at, ids[at[:2]], status, digests.get(at[:2], {}).get(at[2], ())) for at, status in statuses.items()]


def took_part(folder: Path) -> int:
    """On how many nodes parts of a campaign ran."""
    with Records(folder) as records:
        return len({each.node for each in records.ran_on()})
