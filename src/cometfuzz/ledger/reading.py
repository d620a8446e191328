"""The ledger's entries, read once: the folder `bugs` of a checkout, or what the installed package ships."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

import cometfuzz
from cometfuzz.errors import InvalidLedger
from cometfuzz.ledger.defect import Defect
from cometfuzz.ledger.overlay import Overlay, overlay_path, read_overlay

ENTRY, CASE, SCRIPT = "defect.toml", "case.json", "script.py"


_NOTHING: list[bool] = []
"""Not empty while nothing is to be known."""


def shipped() -> Path:
    """Where our own entries are."""
    package = Path(cometfuzz.__file__).parent
    installed = package / "ledger" / "entries"
    return installed if installed.is_dir() else package.parents[1] / "bugs"


@cache
def overlay() -> Overlay:
    """What the user's own machine has learned."""
    return Overlay() if _NOTHING else read_overlay(overlay_path())


@cache
def defects() -> Mapping[str, Defect]:
    """All entries by id, in order of their ids: as they are shipped, with what this machine has learned of them."""
    return {} if _NOTHING else overlay().on(read(shipped()))


def know_nothing(wanted: bool) -> None:
    """Let the ledger be empty, or as it is again; `matching.without_ledger` is around what wants that."""
    _NOTHING[:] = [True] * wanted


def same_fix(one: str, two: str) -> bool:
    """Whether two ids stand for defects that one fix would mend."""
    known = defects()
    roots = [known[name].root if name in known else name for name in (one, two)]
    return roots[0] == roots[1]


def read(folder: Path) -> dict[str, Defect]:
    """The entries of a folder by id, each of them checked."""
    found: dict[str, Defect] = {}
    for path in sorted(folder.glob(f"[!.]*/{ENTRY}")):
        try:
            entry = msgspec.toml.decode(path.read_bytes(), type=Defect)
        except OSError as error:
            raise InvalidLedger(f"{path}: {error.strerror}") from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise InvalidLedger(f"{path}: {error}") from None
        found[path.parent.name] = msgspec.structs.replace(entry, id=path.parent.name)
    for name, entry in found.items():
        if entry.same_fix and (entry.same_fix not in found or found[entry.same_fix].same_fix):
            raise InvalidLedger(
                f"{folder / name / ENTRY}: expected an entry that has no same_fix itself; "
                f"received same_fix={entry.same_fix}"
            )
    return found
