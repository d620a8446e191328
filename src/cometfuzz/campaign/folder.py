"""The files of a campaign folder beside its database: the lock, and the cases under their ids.

campaign.sqlite     what happened; see schema.py
cases/ab/ID.json    every case, under the id that is the hash of its text
set-aside/          case files whose text does not have their hash any more
lock                held by the one process that writes
"""

import fcntl
import os
from pathlib import Path

from cometfuzz.catalogue.files import decode
from cometfuzz.errors import InvalidCampaign, InvalidCase
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import encode, text_id

DATABASE = "campaign.sqlite"


class Lock:
    """Held by the one process that writes to a folder, until it is released or the process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        """Take the lock, or say who holds it. The file stays: removing it would let two processes hold it."""
        self._descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(self._descriptor, 20).decode("ascii", "replace").strip() or "unknown"
            os.close(self._descriptor)
            raise InvalidCampaign(
                f"{folder}: expected a campaign that no other process writes to; received one in use by process "
                f"pid={holder}: wait for it or end it, or name another folder"
            ) from None
        os.truncate(self._descriptor, 0)
        os.write(self._descriptor, f"{os.getpid()}\n".encode("ascii"))

    def release(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


class CaseFiles:
    """The case files of a campaign folder. Safe to share between one writer and any number of readers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, case_id: str) -> Path:
        return self.folder / "cases" / case_id[:2] / f"{case_id}.json"

    def save(self, case: Case) -> str:
        """Put a case there as a whole or not at all, and return its id. A damaged file is replaced."""
        text = encode(case)
        name = text_id(text)
        path = self.path(name)
        if self._text(path) == text:
            return name
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.folder / "cases" / "draft"  # one name: there is one writer, and a kill leaves at most one
        with open(draft, "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        return name

    def load(self, case_id: str) -> Case:
        """The case of an id; InvalidCase if its file is missing or damaged."""
        if problem := self.problem(case_id):
            raise InvalidCase(problem)
        return decode(self.path(case_id).read_bytes())

    def problem(self, case_id: str) -> str:
        """What is wrong with the file of a case, or nothing. The hash stands for the content: nothing is decoded."""
        path = self.path(case_id)
        text = self._text(path)
        if text is None:
            return f"{path}: expected the file of a case; received none that can be read"
        if (found := text_id(text)) != case_id:
            return f"{path}: expected a text whose hash is {case_id}; received hash={found}, bytes={len(text)}"
        return ""

    def set_aside(self, case_id: str) -> bool:
        """Move the file of a case out of the way; False if there is none."""
        aside = self.folder / "set-aside"
        aside.mkdir(exist_ok=True)
        try:
            self.path(case_id).replace(aside / f"{case_id}.json")
        except FileNotFoundError:
            return False
        return True

    @staticmethod
    def _text(path: Path) -> bytes | None:
        try:
            return path.read_bytes()
        except OSError:
            return None
