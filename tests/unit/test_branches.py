"""The parent's side of branch coverage, and instrumented code as it is kept on disk; no library."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from cometfuzz.coverage.branches import MODULES, Branches, News, Share
from cometfuzz.errors import InvalidCoverage
from cometfuzz.execution.instrumenting import Cache


def told(branches: list[list[int]], lines: list[int], digest: str = "d", total: tuple[int, int] = (4, 10)) -> Any:
    return {"digest": digest, "all": list(total), "branches": branches, "lines": lines}


def test_only_what_was_not_there_is_new() -> None:
    branches = Branches()
    first = branches.merge({"a": told([[1, 2], [1, 4]], [1, 2]), "b": told([], [])})
    assert (first.branch_count, first.line_count) == (2, 2)
    assert first.branches == {"a": {(1, 2), (1, 4)}}
    assert not branches.merge({"a": told([[1, 2]], [2])})
    again = branches.merge({"a": told([[1, 2], [7, 0]], [2]), "b": told([], [3])})
    assert again == News({"a": frozenset({(7, 0)})}, {"b": frozenset({3})})


def test_shares_are_known_by_module_and_in_all_even_where_nothing_is_reached() -> None:
    branches = Branches()
    branches.merge({"b": told([], [], total=(2, 5)), "a": told([[1, 2]], [1, 2, 3])})
    assert list(branches.modules) == ["a", "b"]
    assert branches.modules["a"].branch_share == Share(1, 4)
    assert branches.modules["b"].line_share.percent == 0.0
    assert branches.branch_share == (1, 6)
    assert branches.line_share == (3, 15)
    assert branches.branch_share.percent == pytest.approx(100 / 6)
    assert Branches().branch_share.percent == 100.0


def test_another_source_begins_anew() -> None:
    branches = Branches()
    branches.merge({"a": told([[1, 2]], [1, 2])})
    news = branches.merge({"a": told([[1, 2]], [], digest="e", total=(6, 12))})
    assert news.branch_count == 1
    assert branches.modules["a"].branch_share == (1, 6)
    assert branches.modules["a"].line_share == (0, 12)


def test_it_survives_json() -> None:
    branches = Branches()
    branches.merge({"a": told([[9, 0], [1, 2]], [3, 1]), "b": told([], [])})
    text = json.dumps(branches.to_plain())
    restored = Branches.from_plain(json.loads(text))
    assert restored.modules == branches.modules
    assert json.dumps(restored.to_plain()) == text
    assert not restored.merge(json.loads(text))


@pytest.mark.parametrize("broken", [[], {"a": 1}, {"a": {}}, {"a": told([[1]], [])}, {"a": told([], [], total=(1,))}])  # type: ignore[arg-type]
def test_what_is_no_coverage_is_refused_in_one_line(broken: Any) -> None:
    with pytest.raises(InvalidCoverage, match="expected branch coverage; received"):
        Branches.from_plain(broken)


def test_news_of_two_visits_are_joined() -> None:
    one = News({"a": frozenset({(1, 2)})}, {"a": frozenset({1})})
    other = News({"a": frozenset({(1, 3)}), "b": frozenset({(5, 0)})}, {})
    assert (one | other).branches == {"a": {(1, 2), (1, 3)}, "b": {(5, 0)}}
    assert (one | other).line_count == 1
    assert not News() | News()


def test_modules_are_listed_once() -> None:
    assert sorted(set(MODULES)) == list(MODULES)


def test_the_cache_gives_back_what_was_stored_and_nothing_else(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "made" / "here")
    assert cache.read("key") is None
    cache.write("key", b"data")
    assert cache.read("key") == b"data"
    assert [file.name for file in cache.folder.iterdir()] == ["key"]
    assert cache.folder.stat().st_mode & 0o777 == 0o700
    assert (cache.folder / "key").stat().st_mode & 0o777 == 0o600
    stored = (cache.folder / "key").read_bytes()
    for damaged in (stored[:-1], b"", stored + b"x"):
        (cache.folder / "key").write_bytes(damaged)
        assert cache.read("key") is None


def test_a_cache_that_others_can_write_to_is_not_used(tmp_path: Path) -> None:
    private = Cache(tmp_path / "cache")
    private.write("key", b"data")
    os.chmod(private.folder, 0o770)
    shared = Cache(private.folder)
    shared.write("other", b"data")
    assert shared.read("key") is None
    assert not (private.folder / "other").exists()
    (tmp_path / "link").symlink_to(private.folder)
    os.chmod(private.folder, 0o700)
    assert Cache(tmp_path / "link").read("key") is None
    assert Cache(private.folder).read("key") == b"data"


def test_a_cache_that_cannot_be_made_only_costs_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "cache")
    cache.write("key", b"data")
    assert cache.read("key") is None
