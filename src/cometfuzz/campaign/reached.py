"""The file of code branches in a campaign's folder, of those campaigns that observe them."""

import json
from collections.abc import Sequence
from pathlib import Path

from cometfuzz.campaign.schema import plain_words
from cometfuzz.coverage.branches import MODULES, Branches
from cometfuzz.errors import InvalidCoverage
from cometfuzz.places import Place

BRANCHES = "branches.json"
MAX_BYTES = 64 * 2**20


def stored_branches(folder: Path, modules: Sequence[str] = MODULES) -> Branches:
    """What was reached in some modules; nothing if nobody looked. A file that somebody broke costs a recount."""
    place = Place(folder)
    with plain_words(place.path(BRANCHES)):
        text = place.read(BRANCHES, MAX_BYTES) if place.kind(BRANCHES) else b"{}"
    try:
        return Branches.from_plain(json.loads(text), modules)
    except (ValueError, RecursionError, InvalidCoverage):
        return Branches(modules)


def save_branches(folder: Path, branches: Branches) -> None:
    """Keep what was reached, in place of what was known before."""
    place = Place(folder)
    with plain_words(place.path(BRANCHES)):
        place.write(BRANCHES, json.dumps(branches.to_plain()).encode("ascii"))
