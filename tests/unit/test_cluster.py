"""What needs no Dask of a cluster: which addresses are used, and messages as they are read."""

import json
import math
from pathlib import Path

import pytest

from cometfuzz.campaign.events import RouteResult
from cometfuzz.campaign.judging import Judged
from cometfuzz.cluster.access import access_to
from cometfuzz.cluster.forms import Answer, InvalidMessage, Judge, Question, Setup, Verdict, pack, unpack
from cometfuzz.config import ClusterConfig, Config
from cometfuzz.errors import InvalidConfig
from cometfuzz.oracles.determinism import Fingerprint
from cometfuzz.oracles.finding import Camp, Finding

NONE = ClusterConfig()


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]", "localhost"])
def test_this_machine_needs_no_certificates(host: str) -> None:
    assert access_to(f"tcp://{host}:8786", NONE, insecure=False).address == f"tcp://{host}:8786"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("tcp://10.0.0.1:8786", "--insecure"),
        ("tcp://localhost.example.org:8786", "--insecure"),
        ("tls://10.0.0.1:8786", "ca, cert and key"),
        ("ws://127.0.0.1:8786", "tls://HOST:PORT"),
        ("inproc://127.0.0.1:1", "tls://HOST:PORT"),
        ("127.0.0.1:8786", "tls://HOST:PORT"),
        ("tcp://127.0.0.1:99999999", "tls://HOST:PORT"),
        ("tcp://:8786", "tls://HOST:PORT"),
    ],
)
def test_other_addresses_are_refused(given: str, said: str) -> None:
    with pytest.raises(InvalidConfig, match=said):
        access_to(given, NONE, insecure=False)


def test_somebody_may_insist() -> None:
    assert access_to("tcp://10.0.0.1:8786", NONE, insecure=True).ca is None


def test_a_file_of_a_scheduler_is_held_to_the_same(tmp_path: Path) -> None:
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({"address": "tcp://10.0.0.1:8786"}))
    with pytest.raises(InvalidConfig, match="--insecure"):
        access_to(str(file), NONE, insecure=False)
    file.write_text("[1]")
    with pytest.raises(InvalidConfig, match="scheduler's file"):
        access_to(str(file), NONE, insecure=False)


def test_a_verdict_comes_back_as_it_was() -> None:
    """NaN, half a surrogate pair, and evidence that nobody declared."""
    finding = Finding(
        "crash", "crash", "ordinary", (Camp(("one",), "x"),), "run", "one", "d", evidence={"a": [1, None]}
    )
    result = RouteResult("one", "completed", "run", "one", 0.1, 0.2, "", None, {"one": "1"}, math.nan)
    marks = {"one": Fingerprint("completed", "run", ("00", "11"))}
    judged = Judged((result,), (finding,), math.inf, True, False, False, marks, "tls://10.0.0.1:1")
    back = unpack(pack(Verdict(judged, 1.0, 2.0, ("paused",))), Answer, "a node")
    assert back.judged.findings == (finding,)
    assert back.judged.fingerprints == marks
    assert math.isnan(back.judged.results[0].mean_magnitude)
    spoken = Verdict(Judged((), (), None, True, False, False, {}, "half a pair \ud800"), 0.0, 0.0)
    assert unpack(pack(spoken), Answer, "a node").judged.node == "half a pair \\ud800"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xc1",
        b"\x80",
        pack(Judge(b"{}", ("one",))) + b"x",
        pack(Setup(Config(), ("one",), 1.0)),
        b"\x93" * 5000,
    ],
)
def test_bytes_that_are_no_message_are_refused(content: bytes) -> None:
    for kind in (Question, Answer) if not content.endswith(b"x") else (Answer,):
        with pytest.raises(InvalidMessage):
            unpack(content, kind, "a node")
