"""The store: what is committed stays, whatever happens to the process, a file or the version."""

import math
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from stand_in import (
    FINDING,
    SETTINGS,
    campaign,
    counts,
    fresh,
    last_coverage,
    result,
)

from cometfuzz.campaign import schema
from cometfuzz.campaign.events import CaseDone, Ended, Executed, Notice, Started
from cometfuzz.campaign.folder import DATABASE, Lock
from cometfuzz.campaign.records import Records
from cometfuzz.campaign.replay import recount
from cometfuzz.campaign.store import Store
from cometfuzz.errors import InvalidCampaign, InvalidCase
from cometfuzz.execution.policy import cut
from cometfuzz.ir.codec import case_id, encode


@pytest.fixture(scope="module")
def events() -> list[CaseDone]:
    return list(islice(campaign(fresh()), 12))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.create(tmp_path / "campaign", SETTINGS) as made:
        yield made


def path_of(store: Records, event: CaseDone) -> Path:
    return store.folder / "cases" / event.case_id[:2] / f"{event.case_id}.json"


def test_what_is_handled_is_read_back(store: Store, events: list[CaseDone]) -> None:
    store.handle(Started(SETTINGS, 0, {}))
    for event in events:
        store.handle(event)
    store.handle(Notice("keras-jax is paused \ud800"))
    store.handle(Ended("cases", 12, 9.0, {}, 1.0, 2.0))
    with Records(store.folder) as records:
        assert records.settings == SETTINGS
        assert records.done == len(events)
        assert records.elapsed_s == 9.0
        assert records.coverage == events[-1].coverage
        assert records.operators == events[-1].operators
        assert [(logged.case_id, logged.feedback) for logged in records.feedbacks()] == [
            (event.case_id, event.feedback) for event in events
        ]
        assert [ran.result for ran in records.outcomes()] == [
            outcome for event in events for outcome in event.parts[0].results
        ]
        assert [found.finding for found in records.findings()] == [FINDING] * len(events)
        assert [point.elapsed_s for point in records.curve()] == [event.elapsed_s for event in events]
        assert [point.covered for point in records.curve()] == [counts(event.coverage) for event in events]
        assert encode(records.case(events[3].case_id)) == encode(events[3].case)
        assert list(records.notices()) == [(12, "keras-jax is paused \\ud800")]
        (session,) = records.sessions()
        assert (session.first_index, session.reason, session.library_cpu_s) == (0, "cases", 2.0)
        assert records.check() == []
        assert counts(recount(records)) == last_coverage(records)


def test_parts_branches_and_odd_numbers(store: Store, events: list[CaseDone]) -> None:
    event = next(event for event in events if len(event.case.graph.nodes) > 6)
    part = cut(event.case, [event.case.graph.nodes[-1].id], 3)
    assert part is not None
    odd = [replace(result("keras-tf"), mean_magnitude=math.inf), replace(result("openvino"), versions={"o": "1"})]
    parts = (event.parts[0], Executed(1, part, case_id(part), [*odd, result("keras-tf")], math.nan, []))
    store.handle(replace(event, index=0, parts=parts, branches={"keras": 12}))
    rows = list(store.outcomes())
    assert [(row.part, row.case_id, row.result.route) for row in rows[2:]] == [
        (1, case_id(part), "keras-tf"),
        (1, case_id(part), "openvino"),
        (1, case_id(part), "keras-tf"),
    ]
    assert rows[2].result.mean_magnitude == math.inf
    assert rows[2].d_mad is not None
    assert math.isnan(rows[2].d_mad)
    assert rows[3].result.versions == {"o": "1"}
    assert [row["n"] for row in store.select("SELECT count(*) AS n FROM versions")] == [2]
    assert [point.branches for point in store.curve()] == [{"keras": 12}]
    assert encode(store.case(case_id(part))) == encode(part)


def test_what_a_library_prints_is_never_refused(store: Store, events: list[CaseDone]) -> None:
    odd = "\ud800 \0 \x1b[31m é"
    failing = replace(result("keras-tf", "exception", odd), failure={"type": "E", "message": odd})
    finding = replace(FINDING, failure=odd, detail=odd)
    part = replace(events[0].parts[0], results=[failing], findings=[finding])
    store.handle(replace(events[0], parts=(part,)))
    (row,) = store.outcomes()
    assert row.result.detail == "\\ud800 \0 \x1b[31m é"
    assert row.result.failure == {"type": "E", "message": odd}
    assert [found.finding for found in store.findings()] == [finding]


def test_events_out_of_order_and_wrong_ids_are_our_mistake(store: Store, events: list[CaseDone]) -> None:
    with pytest.raises(ValueError, match="expected case 0, in order of index; received index=1"):
        store.handle(events[1])
    store.handle(events[0])
    with pytest.raises(ValueError, match="received index=0"):
        store.handle(events[0])
    with pytest.raises(ValueError, match="expected the id of the case"):
        store.handle(replace(events[1], case_id="0" * 16))
    with pytest.raises(ValueError, match="expected Started"):
        store.handle(Ended("cases", 1, 1.0, {}, 1.0, 1.0))
    assert store.done == 1
    assert store.check() == []


def test_a_transaction_that_fails_leaves_nothing(store: Store, events: list[CaseDone]) -> None:
    broken = replace(events[0].parts[0], results=[replace(result("keras-tf"), versions={"new": "1"}), object()])
    with pytest.raises(AttributeError):
        store.handle(replace(events[0], parts=(broken,)))
    tables = ("cases", "trials", "outcomes", "versions", "findings")
    assert [len(list(store.select(f"SELECT * FROM {table}"))) for table in tables] == [0] * 5
    store.handle(events[0])
    assert store.check() == []


def test_a_folder_with_a_campaign_is_not_begun_again(tmp_path: Path) -> None:
    Store.create(tmp_path, SETTINGS).close()
    with pytest.raises(InvalidCampaign, match=rf"`cometfuzz resume {tmp_path}`"):
        Store.create(tmp_path, SETTINGS)
    Store.open(tmp_path).close()


def test_a_folder_without_a_campaign_stays_as_it_is(tmp_path: Path) -> None:
    for opened in (Store.open, Records):
        with pytest.raises(InvalidCampaign, match=r"expected the folder of a campaign"):
            opened(tmp_path)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(InvalidCampaign, match="File exists"):
        Store.create(tmp_path / "file", SETTINGS)


def test_a_creation_that_was_killed_is_no_campaign(tmp_path: Path) -> None:
    (tmp_path / f"{DATABASE}.draft").write_bytes(b"half")
    (tmp_path / f"{DATABASE}.draft-journal").write_bytes(b"half")
    with Store.create(tmp_path, SETTINGS) as store:
        assert store.check() == []
    assert sorted(path.name for path in tmp_path.iterdir()) == [DATABASE, "lock"]


@pytest.mark.parametrize(("version", "age"), [(schema.VERSION + 1, "a newer"), (0, "an older")])
def test_another_schema_version_is_refused(tmp_path: Path, version: int, age: str) -> None:
    Store.create(tmp_path, SETTINGS).close()
    connection = sqlite3.connect(tmp_path / DATABASE)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()
    before = (tmp_path / DATABASE).read_bytes()
    expected = f"expected schema version {schema.VERSION}; received version={version}, made by {age} cometfuzz"
    for _ in range(2):  # the lock is free again
        with pytest.raises(InvalidCampaign, match=expected):
            Store.open(tmp_path)
    with pytest.raises(InvalidCampaign, match=expected):
        Records(tmp_path)
    assert (tmp_path / DATABASE).read_bytes() == before


def test_the_database_of_something_else_is_refused(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / DATABASE)
    connection.execute("CREATE TABLE cases (a)")
    connection.close()
    with pytest.raises(InvalidCampaign, match="received another SQLite database"):
        Records(tmp_path)


def test_a_second_process_is_refused_and_told_which_is_there(store: Store) -> None:
    program = "import sys, pathlib; from cometfuzz.campaign.store import Store; Store.open(pathlib.Path(sys.argv[1]))"
    ended = subprocess.run([sys.executable, "-c", program, str(store.folder)], capture_output=True, text=True)
    assert ended.returncode != 0
    assert f"InvalidCampaign: {store.folder}: expected a campaign that no other process writes to" in ended.stderr
    assert f"pid={os.getpid()}" in ended.stderr
    store.close()
    store.close()
    Lock(store.folder).release()


def test_a_reader_sees_what_is_committed_while_the_campaign_runs(store: Store, events: list[CaseDone]) -> None:
    store.handle(events[0])
    with Records(store.folder) as records:
        unread = records.feedbacks()
        assert next(unread).index == 0
        store.handle(events[1])
        assert store.done == 2
    with Records(store.folder) as records:
        assert records.done == 2


@pytest.mark.parametrize("damage", ["changed", "cut", "empty", "gone"])
def test_a_damaged_case_file_is_set_aside_and_the_rest_is_used(
    store: Store, events: list[CaseDone], damage: str
) -> None:
    for event in events[:3]:
        store.handle(event)
    path, text = path_of(store, events[1]), encode(events[1].case)
    damaged = {"changed": text.replace(b"1", b"2", 1), "cut": text[:50], "empty": b""}.get(damage)
    if damaged is None:
        path.unlink()
    else:
        path.write_bytes(damaged)
    with Records(store.folder) as records:
        (problem,) = records.check()
        assert path.exists() == (damage != "gone")
        with pytest.raises(InvalidCase, match=path.name):
            records.case(events[1].case_id)
    assert store.check() == [problem + ("; set aside" if damaged is not None else "")]
    aside = store.folder / "set-aside" / path.name
    assert not path.exists()
    assert (aside.read_bytes() if damaged is not None else None) == damaged
    assert encode(store.case(events[0].case_id)) == encode(events[0].case)
    store.files.save(events[1].case)
    assert store.check() == []


def test_a_damaged_database_is_refused_with_what_can_still_be_done(tmp_path: Path, events: list[CaseDone]) -> None:
    with Store.create(tmp_path, SETTINGS) as store:
        for event in events:
            store.handle(event)
    sound = (tmp_path / DATABASE).read_bytes()
    middle = sound[: 3 * 4096] + b"\xff" * 4096 * 8 + sound[11 * 4096 :]
    for damaged in (b"not a database" * 100, middle, sound[: len(sound) // 2]):
        (tmp_path / DATABASE).write_bytes(damaged)
        with pytest.raises(InvalidCampaign, match=r"received a damaged one .*cometfuzz exec FILE.*\.recover") as caught:
            Store.open(tmp_path)
        assert "\n" not in str(caught.value)
    (tmp_path / DATABASE).write_bytes(sound)
    Store.open(tmp_path).close()


def test_a_full_disk_is_one_line_and_costs_no_case(store: Store, events: list[CaseDone]) -> None:
    store.handle(events[0])
    (pages,) = (row[0] for row in store.select("PRAGMA page_count"))
    list(store.select(f"PRAGMA max_page_count = {pages}"))

    def fill() -> None:
        for event in events[1:]:
            store.handle(event)

    with pytest.raises(InvalidCampaign, match=r"received: database or disk is full.*cometfuzz resume DIR"):
        fill()
    assert store.check() == []
    done = store.done
    list(store.select("PRAGMA max_page_count = 1000000"))
    store.handle(events[done])
    assert store.done == done + 1


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_memory_does_not_grow_with_the_campaign(
    tmp_path: Path, events: list[CaseDone], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "SYNCHRONOUS", "OFF")
    with Store.create(tmp_path, SETTINGS) as store:
        for index in range(2200):
            if index == 200:
                before = resident_bytes()
            store.handle(replace(events[index % len(events)], index=index))
        written = resident_bytes()
        assert sum(1 for _ in store.outcomes()) == 4400
        assert sum(1 for _ in store.findings()) == sum(1 for _ in store.curve()) == 2200
        assert written - before < 5 * 2**20
        assert resident_bytes() - written < 5 * 2**20
