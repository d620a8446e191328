"""Bugs of a folder that is a campaign's or a collection: what the commands that take either have in common."""

import os
from dataclasses import dataclass
from pathlib import Path

from cometfuzz.campaign.folder import DATABASE
from cometfuzz.campaign.records import Records
from cometfuzz.errors import InvalidCampaign, UnknownName
from cometfuzz.reports.facts import rank, standing
from cometfuzz.triage.bug import Bug
from cometfuzz.triage.collection import Collected, Collection, is_collection


@dataclass(frozen=True)
class Listed:
    """A bug under the name that the folder has for it. status: how it counts. entry: in a collection.
    findings: how often a campaign saw it."""

    name: str
    status: str
    bug: Bug
    entry: Collected | None = None
    findings: int = 0

    def is_called(self, name: str) -> bool:
        """Whether a person may mean it: by its id or name, or the beginning of one."""
        return self.name.startswith(name) or self.bug.id.startswith(name)


def bugs_of(folder: Path) -> list[Listed]:
    """The bugs of a campaign in the order of reports, or those of a collection in the order of their names."""
    if not _has_database(folder) and is_collection(folder):
        return [Listed(entry.slug, _status(entry), entry.bug, entry) for entry in Collection.read(folder).entries]
    if folder.is_dir() and not _has_database(folder):
        raise InvalidCampaign(
            f"{folder}: expected the folder of a campaign, with {DATABASE} in it, or a collection of bugs; received "
            "neither: `cometfuzz run --out DIR` begins a campaign, `cometfuzz collect` a collection"
        )
    with Records(folder) as records:
        seen, found = records.sightings(), sorted(records.bugs(), key=rank)
    return [Listed(bug.id, standing(bug), bug, findings=seen.get(bug.id, 0)) for bug in found]


def _has_database(folder: Path) -> bool:
    """Whether anything is there under that name, be it a link that is then refused."""
    return os.path.lexists(folder / DATABASE)


def _status(entry: Collected) -> str:
    waiting = entry.defect.counted and not entry.defect.why.strip()
    return "not judged" if waiting else entry.status


def named(found: list[Listed], name: str) -> Listed:
    """The one bug of that name, or UnknownName that lists what there is."""
    matching = [each for each in found if name in (each.name, each.bug.id)]
    matching = matching or [each for each in found if each.is_called(name)]
    if len(matching) == 1:
        return matching[0]
    wanted = f"one of {', '.join(each.name for each in matching or found)}" if found else "a folder with bugs"
    raise UnknownName(f"expected {wanted}; received bug={name!r}")
