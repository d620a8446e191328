"""Reads the members of a .keras file, which is a ZIP archive that nobody trusts, without extracting anything.

Hard limits stand before every read: on the archive, on its directory, on a member's claimed size and on how much it may
swell. What breaks one of them is one InvalidCase.
"""

import io
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from cometfuzz.errors import InvalidCase

CONFIG, METADATA, WEIGHTS = "config.json", "metadata.json", "model.weights.h5"
MAX_DIRECTORY = 64 * 2**10
LIMITS = {CONFIG: 8 * 2**20, METADATA: 2**16, WEIGHTS: 128 * 2**20}
MAX_SWELLING = 100
_END, _END_SIZE, _LOCATOR, _LOCATOR_SIZE, _MAX_COMMENT = b"PK\5\6", 22, b"PK\6\7", 20, 2**16


@dataclass(frozen=True)
class Archive:
    """A .keras file whose directory has been looked at."""

    path: Path
    data: bytes
    members: Mapping[str, zipfile.ZipInfo]

    def read(self, name: str) -> bytes:
        """The bytes of one member."""
        info = self.members.get(name)
        if info is None:
            raise InvalidCase(f"{self.path}: expected a member {name}; received {_shown(self.members)}")
        limit = LIMITS[name]
        if info.file_size > min(limit, MAX_SWELLING * info.compress_size + 2**16):
            raise InvalidCase(
                f"{self.path}: expected {name} of at most {limit} bytes that swells at most {MAX_SWELLING} times; "
                f"received bytes={info.file_size} out of {info.compress_size}"
            )
        if info.flag_bits & 1 or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise InvalidCase(f"{self.path}: expected {name} stored or deflated; received another method")
        try:
            with zipfile.ZipFile(io.BytesIO(self.data)) as archive, archive.open(info) as member:
                data = member.read(limit + 1)
        except _BROKEN as error:
            raise InvalidCase(f"{self.path}: expected a whole {name}; received {error!r:.120}") from None
        if len(data) != info.file_size:
            raise InvalidCase(f"{self.path}: expected {info.file_size} bytes of {name}; received bytes={len(data)}")
        return data


_BROKEN = (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, NotImplementedError, RuntimeError)


def open_archive(path: Path, data: bytes) -> Archive:
    """The archive's directory, if everything about it is as in a file that Keras wrote."""
    _check_directory(path, data)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
    except _BROKEN as error:
        raise InvalidCase(f"{path}: expected a .keras file, which is a ZIP archive; received {error!r:.120}") from None
    members: dict[str, zipfile.ZipInfo] = {}
    for info in infos:
        place = PurePosixPath(info.filename)
        if place.is_absolute() or ".." in place.parts or "\\" in info.filename or ":" in info.filename:
            raise InvalidCase(f"{path}: expected members inside the archive; received name={info.filename!r:.80}")
        if info.filename in members:
            raise InvalidCase(f"{path}: expected each member once; received name={info.filename!r:.80} twice")
        members[info.filename] = info
    return Archive(path, data, members)


def _check_directory(path: Path, data: bytes) -> None:
    """Look at the end record before `zipfile` does: it would read a directory of any size."""
    tail = data[-(_MAX_COMMENT + _END_SIZE + _LOCATOR_SIZE) :]
    plain = tail[-_END_SIZE:].startswith(_END) and tail.endswith(b"\0\0")  # no comment: as `zipfile` finds it
    at = len(tail) - _END_SIZE if plain else tail.rfind(_END)
    if at < 0 or at + _END_SIZE > len(tail):
        raise InvalidCase(f"{path}: expected a .keras file, which is a ZIP archive; received something else")
    directory = int.from_bytes(tail[at + 12 : at + 16], "little")
    if _LOCATOR in tail[max(0, at - _LOCATOR_SIZE) : at] or directory > MAX_DIRECTORY:
        raise InvalidCase(f"{path}: expected a directory of at most {MAX_DIRECTORY} bytes; received bytes={directory}")


def _shown(members: Mapping[str, zipfile.ZipInfo]) -> str:
    return ", ".join(repr(name)[:40] for name in list(members)[:5]) or "an empty archive"
