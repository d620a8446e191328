"""Bisecting: where a bug appears and goes away among releases, with as few tries as halving takes."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest
from bugs import bug, finding, pooling

from cometfuzz.places import Place
from cometfuzz.triage.bisecting import Bisected, Result, Search, Try, measured, result_of
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.entries import note, read_entry
from cometfuzz.triage.running import Ran

RELEASES = [f"1.{minor}" for minor in range(40)]


def search(answer: Callable[[int], Result], most: int = 20, known: Mapping[str, Try] | None = None) -> Search:
    def attempt(release: str) -> Try:
        return Try(release, answer(RELEASES.index(release)))

    return Search(RELEASES, attempt, most, dict(known or {}))


def changes(found: Bisected) -> list[tuple[bool, str, str, int]]:
    return [(flip.appeared, flip.before.release, flip.after.release, len(flip.between)) for flip in found.flips]


def from_on(first: int, last: int = 99) -> Callable[[int], Result]:
    return lambda place: "shows" if first <= place <= last else "does not show"


@pytest.mark.parametrize("first", [1, 7, 20, 38, 39])
def test_the_first_bad_release_is_found_from_the_newest(first: int) -> None:
    looking = search(from_on(first))
    found = looking.run(0, 39, 39)
    assert changes(found) == [(True, RELEASES[first - 1], RELEASES[first], 0)]
    assert looking.made <= 14


def test_where_it_appeared_and_where_it_went_away_are_both_found() -> None:
    found = search(from_on(12, 30)).run(0, 39, 20)
    assert changes(found) == [(True, "1.11", "1.12", 0), (False, "1.30", "1.31", 0)]


def test_what_shows_everywhere_changes_nowhere() -> None:
    found = search(from_on(0)).run(0, 39, 25)
    assert (found.flips, found.exhausted) == ((), False)
    assert found.ends is not None
    assert [each.release for each in found.ends] == ["1.0", "1.39"]


def test_bounds_that_were_given_are_tried_at_once() -> None:
    looking = search(from_on(10))
    found = looking.run(8, 20, 20, first=[8, 20])
    assert changes(found) == [(True, "1.9", "1.10", 0)]
    assert "1.19" not in looking.known
    assert all(8 <= RELEASES.index(name) <= 20 for name in looking.known)


def test_releases_that_cannot_tell_are_skipped() -> None:
    def answer(place: int) -> Result:
        return "cannot tell" if place in (9, 10, 11, 39) or place < 3 else from_on(11)(place)

    assert changes(search(answer).run(0, 39, 39)) == [(True, "1.8", "1.12", 3)]


def test_none_can_tell() -> None:
    looking = search(lambda place: "cannot tell", most=60)
    found = looking.run(0, 39, 39)
    assert (found.flips, found.ends, found.exhausted) == ((), None, False)


def test_it_stops_at_so_many_tries_and_goes_on_where_it_was() -> None:
    looking = search(from_on(13), most=4)
    first = looking.run(0, 39, 39)
    assert first.exhausted
    assert looking.made == 4
    again = search(from_on(13), most=20, known=looking.known)
    found = again.run(0, 39, 39)
    assert changes(found) == [(True, "1.12", "1.13", 0)]
    assert again.made + looking.made <= 14
    once_more = search(lambda place: pytest.fail("tried before"), known=again.known)
    assert changes(once_more.run(0, 39, 39)) == changes(found)


def test_what_was_narrowed_down_before_the_end_of_the_tries_is_told() -> None:
    found = search(from_on(13), most=8).run(0, 39, 39)
    assert found.exhausted
    ((_, before, after, between),) = changes(found)
    assert RELEASES.index(before) < 13 <= RELEASES.index(after)
    assert between


def crash() -> Bug:
    found = finding("keras-tf", "crash", failure="TypeError: no", library="keras")
    return bug(pooling(), found)


@pytest.mark.parametrize(
    ("ran", "result", "reason"),
    [
        (Ran(1, "versions: keras 1.2 numpy 2.0\nseen: TypeError: no", ""), "shows", ""),
        (Ran(0, "versions: keras 1.2\nseen: [1.0]", ""), "does not show", ""),
        (Ran(1, "versions: keras 1.2\nseen: KeyError: x", ""), "cannot tell", "seen: KeyError: x"),
        (Ran(2, "missing: No module named 'keras.src'", ""), "cannot tell", "missing: No module named 'keras.src'"),
        (Ran(1, "", "Traceback\nRuntimeError: numpy 1 is needed"), "cannot tell", "RuntimeError: numpy 1 is needed"),
        (Ran(None, "", "", "killed after 300 s"), "cannot tell", "killed after 300 s"),
        (Ran(1, "versions: keras 9.9\nseen: TypeError: no", ""), "cannot tell", "the script met keras 9.9"),
    ],
)
def test_how_a_script_ends_says_what_a_release_does(ran: Ran, result: str, reason: str) -> None:
    found = result_of(crash(), ran, "keras", "1.2")
    assert (found.result, found.reason, found.release) == (result, reason, "1.2")


TRIES: Sequence[Try] = [Try("1.1", "shows"), Try("1.2", "cannot tell"), Try("1.3", "does not show")]


def test_the_ledger_learns_what_could_tell() -> None:
    found = measured(TRIES, {"keras": "9", "torch": "2"}, "keras", foreign=False)
    assert [(seen.versions, kind) for seen, kind in found] == [
        ({"keras": "1.1", "torch": "2"}, "seen"),
        ({"keras": "1.3", "torch": "2"}, "fixed"),
    ]
    assert [kind for _, kind in measured(TRIES, {}, "keras", foreign=True)] == ["seen", "absent"]


def test_an_entry_gets_new_measurements_once_and_stays_as_it_was_written(tmp_path: Path) -> None:
    folder = tmp_path / "a-bug"
    folder.mkdir()
    head = 'title = "t"  # by hand\nwhy = "w"\nlibrary = "keras"\n\n[[seen]]\nversions = { keras = "9" }\n'
    rules = '\n[[applies]]\nroutes = ["keras-tf"]\n'
    (folder / "defect.toml").write_text(head + rules)
    results = measured(TRIES, {"tf-keras": "2"}, "keras", foreign=False)
    assert note(Place(folder), results) == 2
    text = (folder / "defect.toml").read_text()
    assert text.startswith(head)
    assert text.endswith(rules)
    entry = read_entry(Place(folder))
    assert [each.versions["keras"] for each in entry.seen] == ["9", "1.1"]
    assert [each.versions for each in entry.fixed] == [{"tf-keras": "2", "keras": "1.3"}]
    assert len(entry.applies) == 1
    assert note(Place(folder), results) == 0
    assert (folder / "defect.toml").read_text() == text
