"""Places: folders that may come from somebody else, read and written without ever leaving them.

A path is walked from the descriptor of the folder, one name after the other, and no symbolic link is followed on the
way: what is checked is what is opened, even if somebody exchanges a folder for a link meanwhile, which a look before
the opening could not promise. Only what is a regular file is read. What is written is a new file that takes the place
of the old one as a whole: nothing is written into a file that may have another name elsewhere. The folder itself may be
named through links: that is the user's own choice.

What is refused is an OSError like what the system refuses, with its place and a reason for people.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_WITHIN = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""For every file: a link is refused, and no FIFO makes us wait."""

_KINDS = (
    (stat.S_ISREG, "a file"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
)


@dataclass(frozen=True)
class Place:
    """A folder: `below` names the way to it from `root`, which alone may be, or lead through, a symbolic link."""

    root: Path
    below: tuple[str, ...] = ()

    def __truediv__(self, name: str) -> "Place":
        return Place(self.root, (*self.below, name))

    def path(self, name: str = "") -> Path:
        """Where it is, for messages."""
        return self.root.joinpath(*self.below, name)

    def kind(self, name: str) -> str:
        """What has that name, in words ("a file", "a folder", "a symbolic link"...); nothing if it is not there."""
        try:
            with self._opened(name) as folder:
                return _kind(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
        except FileNotFoundError:
            return ""

    def names(self) -> list[str]:
        """What is in the folder, in order; nothing if it is not there."""
        try:
            with self._opened() as folder:
                return sorted(os.listdir(folder))
        except FileNotFoundError:
            return []

    def read(self, name: str, limit: int) -> bytes:
        """What a file has in it, which is at most `limit` bytes."""
        with self._opened(name) as folder, open(self._file(folder, name, os.O_RDONLY), "rb") as file:
            content = file.read(limit + 1)
            if len(content) > limit:
                raise OSError(errno.EFBIG, f"a file of more than {limit} bytes")
            return content

    def write(self, name: str, content: bytes, *, durable: bool = False) -> None:
        """Put a file there as a whole or not at all; folders are made. durable: it also survives a power cut."""
        draft = f".{name}.draft"  # one name: a kill leaves at most one, and the next writer replaces it
        with self._opened(name, make=True) as folder:
            with suppress(FileNotFoundError):
                _expect(os.stat(name, dir_fd=folder, follow_symlinks=False), stat.S_ISREG, "a file")
            with suppress(FileNotFoundError):
                os.unlink(draft, dir_fd=folder)
            with open(self._file(folder, draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
                file.write(content)
                file.flush()
                if durable:
                    os.fsync(file.fileno())
            os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)

    def open_own(self, name: str) -> int:
        """The descriptor of a file to be written in place, made if need be: one that has no other name elsewhere."""
        with self._opened(name) as folder:
            file = self._file(folder, name, os.O_RDWR | os.O_CREAT)
            try:
                _expect_one_name(os.fstat(file))
            except OSError:
                os.close(file)
                raise
            return file

    def expect_file(self, name: str, *, own: bool) -> None:
        """Refuse what is no regular file, or if asked has another name elsewhere; what is not there is good."""
        with self._opened(name) as folder, suppress(FileNotFoundError):
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            _expect(found, stat.S_ISREG, "a file")
            if own:
                _expect_one_name(found)

    def move(self, name: str, to: "Place", new: str) -> None:
        """Give a file or folder another place, whose folders are made."""
        with self._opened(name) as folder, to._opened(new, make=True) as target:
            os.replace(name, new, src_dir_fd=folder, dst_dir_fd=target)

    def remove(self, name: str) -> None:
        """Remove a name, be it of a file or of a link; nothing happens if it is not there."""
        with suppress(FileNotFoundError), self._opened(name) as folder:
            os.unlink(name, dir_fd=folder)

    def remove_folder(self, name: str) -> None:
        """Remove a folder that is empty."""
        with self._opened(name) as folder:
            os.rmdir(name, dir_fd=folder)

    @contextmanager
    def _opened(self, *names: str, make: bool = False) -> Iterator[int]:
        """The descriptor of the folder, to do something with a name in it; what goes wrong there names the place."""
        try:
            for each in (*self.below, *names):
                if each in ("", ".", "..") or "/" in each or "\0" in each:
                    raise OSError(errno.EINVAL, f"{each!r} instead of the name of a file")
            if make:
                self.root.mkdir(parents=True, exist_ok=True)
            folder = os.open(self.root, _FOLDER)
            try:
                for each in self.below:
                    if make:
                        with suppress(FileExistsError):
                            os.mkdir(each, dir_fd=folder)
                    inner = _open(folder, each, _FOLDER | os.O_NOFOLLOW, stat.S_ISDIR, f"the folder {each}")
                    os.close(folder)
                    folder = inner
                yield folder
            finally:
                os.close(folder)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path(*names))) from None

    @staticmethod
    def _file(folder: int, name: str, flags: int) -> int:
        return _open(folder, name, flags | _WITHIN, stat.S_ISREG, "a file")


def _open(folder: int, name: str, flags: int, fits: Callable[[int], bool], wanted: str) -> int:
    """The descriptor of what has a name in a folder and is of the wanted kind."""
    try:
        found = os.open(name, flags, 0o666, dir_fd=folder)
    except FileNotFoundError:
        raise
    except OSError:  # it may be a link, a device without a driver, a socket: say what it is
        _expect(os.stat(name, dir_fd=folder, follow_symlinks=False), fits, wanted)
        raise
    try:
        _expect(os.fstat(found), fits, wanted)
    except OSError:
        os.close(found)
        raise
    return found


def _expect(found: os.stat_result, fits: Callable[[int], bool], wanted: str) -> None:
    if not fits(found.st_mode):
        raise OSError(errno.EPERM, f"{_kind(found.st_mode)} instead of {wanted}")


def _expect_one_name(found: os.stat_result) -> None:
    if found.st_nlink > 1:
        raise OSError(errno.EPERM, f"a file with {found.st_nlink} names (hard links), one of which may be elsewhere")


def _kind(mode: int) -> str:
    return next((name for fits, name in _KINDS if fits(mode)), "a device")
