"""What a user's own machine has learned of the entries: with which other versions they show, and with which not.

The shipped entries may be read-only, and are the same for everybody; this file is the user's: $COMETFUZZ_LEDGER, or
cometfuzz/ledger.json where XDG puts data. `cometfuzz ledger refresh` writes it, and its digest is among the settings of
a campaign: the same seed gives the same cases only with the same ledger.
"""

import hashlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec

from cometfuzz.errors import InvalidLedger
from cometfuzz.ledger.defect import Defect, Seen
from cometfuzz.places import Place
from cometfuzz.reading import read_regular

VERSION = 1
MAX_BYTES = 16 * 2**20


Found = Literal["seen", "fixed", "absent"]


class Learned(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was measured of one entry."""

    seen: tuple[Seen, ...] = ()
    fixed: tuple[Seen, ...] = ()
    absent: tuple[Seen, ...] = ()

    def add(self, result: Seen, found: Found) -> "Learned":
        """With one measurement more; an older one with the same versions on the same kind of CPU gives way."""

        def others(known: tuple[Seen, ...]) -> tuple[Seen, ...]:
            return tuple(each for each in known if (each.versions, each.cpu) != (result.versions, result.cpu))

        left = Learned(others(self.seen), others(self.fixed), others(self.absent))
        return msgspec.structs.replace(left, **{found: (*getattr(left, found), result)})


class Overlay(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All that was measured, by the ids of entries."""

    version: int = VERSION
    entries: dict[str, Learned] = {}

    @property
    def digest(self) -> str:
        """A name for its content; empty if there is none."""
        if not self.entries:
            return ""
        return hashlib.sha256(msgspec.json.encode(self, order="deterministic")).hexdigest()[:16]

    def on(self, shipped: Mapping[str, Defect]) -> dict[str, Defect]:
        """The shipped entries with what was learned of them: what was measured here stands before what is shipped."""
        return {name: _with(defect, self.entries.get(name, Learned())) for name, defect in shipped.items()}


def _with(defect: Defect, learned: Learned) -> Defect:
    """An entry, and what was learned of it: versions that it does not show with are not those it was seen with."""
    gone = [each.versions for each in learned.fixed]
    seen = tuple(each for each in defect.seen if each.versions not in gone)
    return msgspec.structs.replace(
        defect,
        seen=(*seen, *learned.seen),
        fixed=(*defect.fixed, *learned.fixed),
        absent=(*defect.absent, *learned.absent),
    )


def overlay_path() -> Path:
    """Where the user's file is."""
    named, data = os.environ.get("COMETFUZZ_LEDGER"), os.environ.get("XDG_DATA_HOME")
    return Path(named) if named else Path(data or Path.home() / ".local" / "share") / "cometfuzz" / "ledger.json"


def write_overlay(path: Path, overlay: Overlay) -> None:
    """Write the file anew, as a whole or not at all."""
    try:
        text = msgspec.json.format(msgspec.json.encode(overlay, order="deterministic"), indent=1)
        Place(path.parent).write(path.name, text)
    except OSError as error:
        raise InvalidLedger(
            f"{path}: expected a place that can be written; received {error.strerror}: COMETFUZZ_LEDGER names another"
        ) from None


def read_overlay(path: Path) -> Overlay:
    """What the file says; nothing if there is none."""
    if not path.exists():
        return Overlay()
    try:
        found = msgspec.json.decode(read_regular(path, MAX_BYTES, InvalidLedger), type=Overlay)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InvalidLedger(f"{path}: {error}: mend or remove it; `cometfuzz ledger refresh` learns anew") from None
    if found.version != VERSION:
        raise InvalidLedger(
            f"{path}: expected version {VERSION}; received version={found.version}: "
            "remove it, and `cometfuzz ledger refresh` learns anew"
        )
    return found
