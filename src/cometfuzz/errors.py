"""The error tree: everything that cometfuzz itself raises on purpose.

A target library's failure is never one of these: it is a value, an Outcome. Messages read
"expected ...; received name=value" and name the place.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterable
from concurrent.futures import CancelledError
from difflib import get_close_matches
from pathlib import Path

BORNE: tuple[type[Exception], ...] = (Exception,)
"""Mistakes in this program or in a plug-in, which must not end a campaign of hours: said, and the work goes on. Tests
bear none."""


class CometfuzzError(Exception):
    """Base of all errors that a user may see as one line."""


MEANT = (CometfuzzError, CancelledError, OSError)
"""What is no mistake: told to whoever asked for the work."""


def mistake(error: Exception, where: str) -> str:
    """What to say of a mistake of ours: what was being done, what it is, and the line to look at."""
    last = traceback.extract_tb(error.__traceback__)[-1]
    what = f"{type(error).__name__} {error}".strip()
    return f"a mistake in cometfuzz or a plug-in: {where}: {what} ({Path(last.filename).name}:{last.lineno})"


def unwritten(place: object, error: OSError) -> CometfuzzError:
    """What to say of a place that takes nothing."""
    return CometfuzzError(f"{place}: expected a place that can be written; received {error.strerror}: name another")


def looked_at(route: str) -> str:
    """Where to find out why a route does not start."""
    return f"`cometfuzz doctor --routes {route}` says more"


class InvalidCase(CometfuzzError):
    """A case, graph or tensor that cannot be decoded or that `validate` refuses."""


class InvalidConfig(CometfuzzError):
    """A configuration that cannot be read."""


class InvalidCoverage(CometfuzzError):
    """Stored branch coverage that cannot be read."""


class UnknownName(CometfuzzError):
    """A layer, route, environment or parameter that nobody registered."""


def near(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: the one that may have been meant, if there is one like it."""
    close = get_close_matches(name, list(known), 1)
    return f": did you mean {close[0]}?" if close else ""


class InvalidRoute(CometfuzzError):
    """A route that cannot be used as it is declared."""


class EnvironmentFailure(CometfuzzError):
    """An environment that cannot be built, or that does not hold what its file promises."""


class WorkerFailure(CometfuzzError):
    """A worker that cannot be started at all, so that there is no outcome to record."""


class ClusterLost(WorkerFailure):
    """A cluster that cannot be reached or that no longer has a node which can do what is asked; what is finished is
    kept."""


class InvalidCampaign(CometfuzzError):
    """A campaign folder that cannot be used, or not in this way; the message says what can be done."""


class InvalidCollection(CometfuzzError):
    """A collection of bugs that cannot be read or written; the message names the file."""


class InvalidLedger(CometfuzzError):
    """An entry of the ledger that cannot be read, or that names what there is not."""


class InvalidPlugin(CometfuzzError):
    """An entry point of an installed package that does not lead to what it promises."""


class NoScript(CometfuzzError):
    """A bug of which no script can be written."""
