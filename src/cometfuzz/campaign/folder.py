"""The files of a campaign folder beside its database: the lock, and the cases under their ids.

campaign.sqlite     what happened; see schema.py
cases/ab/ID.json    every case, under the id that is the hash of its text
set-aside/          case files whose text does not have their hash any more
lock                held by the one process that writes
"""

import fcntl
import os
import re
from pathlib import Path

from cometfuzz.campaign.schema import plain_words
from cometfuzz.catalogue.files import decode
from cometfuzz.errors import InvalidCampaign, InvalidCase
from cometfuzz.ir.case import Case
from cometfuzz.ir.codec import MAX_BYTES, encode, text_id
from cometfuzz.ir.codec import case_id as id_of
from cometfuzz.places import Place

DATABASE = "campaign.sqlite"
LOCK, CASES, ASIDE = "lock", "cases", "set-aside"
_ID = re.compile(r"[0-9a-f]{16}")


class Lock:
    """Held by the one process that writes to a folder, until it is released or the process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        """Take the lock, or say who holds it. The file stays: removing it would let two processes hold it."""
        self._descriptor = Place(folder).open_own(LOCK)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(self._descriptor, 20).decode("ascii", "replace").strip()
            os.close(self._descriptor)
            raise InvalidCampaign(
                f"{folder}: expected a campaign that no other process writes to; received one in use by process "
                f"pid={holder if holder.isdigit() else 'unknown'}: wait for it or end it, or name another folder"
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
        self.place = Place(folder)
        self.durable = True
        """Whether what is saved survives a power cut at once, or only when all is synced."""

    def path(self, case_id: str) -> Path:
        place, name = self._at(case_id)
        return place.path(name)

    def save(self, case: Case) -> str:
        """Put a case there as a whole or not at all, and return its id. A damaged file is replaced."""
        case_id = id_of(case)
        place, name = self._at(case_id)
        path = place.path(name)
        if not os.path.lexists(path) or self.problem(case_id):
            with plain_words(path):
                place.write(name, encode(case), durable=self.durable)
        return case_id

    def load(self, case_id: str) -> Case:
        """The case of an id; InvalidCase if its file is missing or damaged."""
        text = self._read(case_id)
        if isinstance(text, str):
            raise InvalidCase(text)
        try:
            return decode(text, breaking=True)
        except InvalidCase as error:
            raise InvalidCase(f"{self.path(case_id)}: {error}") from None

    def problem(self, case_id: str) -> str:
        """What is wrong with the file of a case, or nothing. The hash stands for the content: nothing is decoded."""
        text = self._read(case_id)
        return text if isinstance(text, str) else ""

    def set_aside(self, case_id: str) -> bool:
        """Move the file of a case out of the way; False if there is none."""
        place, name = self._at(case_id)
        with plain_words(place.path(name)):
            if not place.kind(name):
                return False
            place.move(name, self.place / ASIDE, name)
        return True

    def expect_folders(self) -> None:
        """Refuse links in place of our folders before anything is begun."""
        for name in (CASES, ASIDE):
            (self.place / name).names()

    def _at(self, case_id: str) -> tuple[Place, str]:
        """The folder and the name of a case. Ids come from a database that somebody else may have written."""
        if not _ID.fullmatch(case_id):
            raise InvalidCampaign(
                f"{self.place.path(DATABASE)}: expected ids of cases of 16 hexadecimal digits; received {case_id!r:.99}"
            )
        return self.place / CASES / case_id[:2], f"{case_id}.json"

    def _read(self, case_id: str) -> bytes | str:
        """The text of a case, or what is wrong with it."""
        (place, name), path = self._at(case_id), self.path(case_id)
        try:
            text = place.read(name, MAX_BYTES)
        except OSError as error:
            return f"{path}: expected the file of a case; received none that can be read: {error.strerror}"
        if (found := text_id(text)) != case_id:
            return f"{path}: expected a text whose hash is {case_id}; received hash={found}, bytes={len(text)}"
        return text
