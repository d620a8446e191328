"""Places: whatever a stranger put into a folder, nothing outside is read or written, and nobody waits."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from cometfuzz.places import Place


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "file").write_bytes(b"secret")
    return folder


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "inside").mkdir()
    return Place(tmp_path / "inside")


def bind(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


ODD: dict[str, Callable[[Path, Path], None]] = {
    "a symbolic link": lambda path, outside: path.symlink_to(outside / "file"),
    "a FIFO": lambda path, outside: os.mkfifo(path),
    "a folder": lambda path, outside: path.mkdir(),
    "a socket": lambda path, outside: bind(path),
}


@pytest.mark.parametrize("kind", ODD)
def test_only_a_regular_file_is_read_or_replaced(kind: str, place: Place, outside: Path) -> None:
    ODD[kind](place.path("file"), outside)
    assert place.kind("file") == kind
    tries: list[Callable[[], object]] = [
        lambda: place.read("file", 10),
        lambda: place.write("file", b"x"),
        lambda: place.open_own("file"),
        lambda: place.expect_file("file", own=False),
    ]
    for attempt in tries:
        with pytest.raises(OSError, match=f"{kind} instead of a file.*inside/file"):
            attempt()
    assert (outside / "file").read_bytes() == b"secret"
    assert place.names() == ["file"]


def test_a_dangling_link_is_not_made_real(place: Place, outside: Path) -> None:
    place.path("file").symlink_to(outside / "new")
    with pytest.raises(OSError, match="a symbolic link"):
        place.write("file", b"x")
    with pytest.raises(OSError, match="a symbolic link"):
        place.open_own("file")
    assert not (outside / "new").exists()


def test_no_folder_on_the_way_is_a_link(place: Place, outside: Path) -> None:
    place.path("way").symlink_to(outside)
    (outside / "deep").mkdir()
    (place.root / "real").mkdir()
    for below in (place / "way", place / "way" / "deep"):
        tries: list[Callable[[], object]] = [
            below.names,
            lambda below=below: below.read("file", 10),
            lambda below=below: below.write("file", b"x"),
            lambda below=below: below.kind("file"),
            lambda below=below: below.remove("file"),
            lambda below=below: below.remove_folder("deep"),
            lambda below=below: place.move("real", below, "real"),
        ]
        for attempt in tries:
            with pytest.raises(OSError, match="a symbolic link instead of the folder way"):
                attempt()
    assert sorted(path.name for path in outside.iterdir()) == ["deep", "file"]


def test_what_is_written_is_a_new_file(place: Place, outside: Path) -> None:
    os.link(outside / "file", place.path("file"))
    place.path(".file.draft").symlink_to(outside / "file")
    place.write("file", b"mine")
    assert (outside / "file").read_bytes() == b"secret"
    assert place.read("file", 4) == b"mine"
    assert place.names() == ["file"]


def test_what_is_written_in_place_has_no_other_name(place: Place, outside: Path) -> None:
    os.link(outside / "file", place.path("file"))
    with pytest.raises(OSError, match=r"a file with 2 names \(hard links\)"):
        place.open_own("file")
    with pytest.raises(OSError, match="2 names"):
        place.expect_file("file", own=True)
    place.expect_file("file", own=False)
    place.expect_file("nothing", own=True)


@pytest.mark.parametrize("name", ["..", ".", "", "a/b", "../outside/file", "/etc/passwd", "a\0b"])
def test_a_name_is_one_name(name: str, place: Place) -> None:
    for attempt in (lambda: place.write(name, b"x"), lambda: (place / name).write("file", b"x")):
        with pytest.raises(OSError, match="instead of the name of a file"):
            attempt()


def test_a_file_that_is_too_long_is_not_read(place: Place) -> None:
    place.write("file", b"12345")
    assert place.read("file", 5) == b"12345"
    with pytest.raises(OSError, match="a file of more than 4 bytes"):
        place.read("file", 4)


def test_the_folder_itself_may_be_a_link_and_folders_are_made(tmp_path: Path, outside: Path) -> None:
    (tmp_path / "mine").symlink_to(outside)
    (Place(tmp_path / "mine") / "a" / "b").write("c", b"x", durable=True)
    assert (outside / "a" / "b" / "c").read_bytes() == b"x"
    with pytest.raises(FileNotFoundError, match="nowhere/file"):
        Place(tmp_path / "nowhere").read("file", 1)
    assert Place(tmp_path / "nowhere").names() == []
    Place(tmp_path / "nowhere").remove("file")
