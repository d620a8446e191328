"""`cometfuzz bisect`: the release of a library in which a bug appeared, or went away."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer
from rich.console import Console
from rich.table import Table

from cometfuzz.cli.ledger import learn
from cometfuzz.cli.output import folding, print_json, writing
from cometfuzz.cli.progress import progress
from cometfuzz.errors import EnvironmentFailure, NoScript, UnknownName
from cometfuzz.execution import environments
from cometfuzz.execution.environments import Environment
from cometfuzz.execution.overlays import Overlays
from cometfuzz.execution.versions import installed, versions_of
from cometfuzz.ledger.cpu import cpu_level
from cometfuzz.ledger.defect import Defect
from cometfuzz.ledger.overlay import overlay_path
from cometfuzz.ledger.reading import shipped
from cometfuzz.reports.text import clean, plural
from cometfuzz.routes.registry import ROUTES
from cometfuzz.routes.switches import plain_name
from cometfuzz.triage.bisecting import Bisected, Flip, Search, Try, Trying, measured
from cometfuzz.triage.collection import Collected, Collection
from cometfuzz.triage.entries import note
from cometfuzz.triage.refreshing import relevant_versions

MOST = 20
COLOURS = {"shows": "red", "does not show": "green", "cannot tell": "dim"}


@dataclass(frozen=True)
class _Entry:
    """What is bisected: an entry of a collection, the environment of its script, and the library of the package."""

    collected: Collected
    environment: Environment
    library: str
    versions: Mapping[str, str]

    @property
    def defect(self) -> Defect:
        return self.collected.defect


def bisect(
    name: Annotated[str, typer.Argument(metavar="BUG", help="A bug of the collection, such as keras-tf-add-value.")],
    package: Annotated[str, typer.Argument(metavar="PACKAGE", help="A package of the package index, such as keras.")],
    low: Annotated[str, typer.Option(help="The oldest release to look at, which is tried first; else any.")] = "",
    high: Annotated[str, typer.Option(help="The newest release to look at, which is tried first; else any.")] = "",
    most: Annotated[int, typer.Option(min=1, max=1000, help="Try at most so many releases, then stop.")] = MOST,
    pre: Annotated[bool, typer.Option("--pre", help="Pre-releases and nightly builds too.")] = False,
    collection: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The collection that has the bug; else the ledger's own.")
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Write the releases around each change into the entry of this collection."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Find the release of a library in which a bug appeared or went away, by running its script with one after another.

    Each release is a folder of that one package, put before the environment in which the script shows the bug: what the
    package depends on stays as it is. One that cannot be installed, imported or asked there is skipped, as git bisect
    does. Folders and results are kept beside the environments: nothing is tried twice, and after Ctrl-C, or at --most,
    the same command goes on. What is learned goes into your ledger (`cometfuzz ledger changes` reads it), with
    `--into bugs` into the entry as well. The package index is that of your pip.

    Exit codes: 0; 2 usage; 3 an environment or a package index that cannot be used.

    Example: cometfuzz bisect keras-tf-conv-l1-float16-crash keras --low 3.11.0
    """
    entry = _entry(name, package, collection)
    overlays = Overlays(entry.environment, package)
    releases = overlays.releases(pre)
    bounds = _bounds(releases, low, high, package)
    at_hand = installed(entry.environment.name).get(package.lower().replace("_", "-"), "")
    start = releases.index(at_hand) if at_hand in releases else bounds[1]
    start = min(max(start, bounds[0]), bounds[1])
    first = [place for place, given in zip(bounds, (low, high), strict=True) if given]
    trying = Trying(entry.collected.slug, entry.collected.bug, overlays)
    with progress("bisecting", most, quiet=as_json) as shown:

        def attempt(release: str) -> Try:
            shown.update(at=f"{package} {release}")
            found = trying.attempt(release)
            shown.advance()
            if not as_json:
                shown.say(f"{package} {release}: {found.result}")
            return found

        search = Search(releases, attempt, most, dict(trying.known))
        try:
            found = search.run(*bounds, start, first)
        finally:
            _learn(entry, tuple(search.asked.values()))
    noted = _note(entry, found, into) if into is not None else 0
    if as_json:
        print_json(_plain(entry, package, found, noted, trying.path))
    else:
        _print(entry, package, found, noted)


def _entry(name: str, package: str, folder: Path | None) -> _Entry:
    """The bug to look for, with all that it takes."""
    among = Collection.read(folder or shipped())
    entry = next((each for each in among.entries if each.slug == name), None)
    if entry is None:
        near = [each.slug for each in among.entries if name in each.slug][:5]
        hint = f" such as {', '.join(near)}" if near else "; `cometfuzz bugs bugs` lists them"
        raise UnknownName(f"expected a bug of {among.folder}{hint}; received {name!r}")
    script = entry.bug.script
    if script is None:
        raise NoScript(f"{name}: expected a bug with a script; received one without: choose another")
    environment = environments.find(script.environment)
    if not environment.ready:
        make = f"cometfuzz env create {environment.name}"
        raise EnvironmentFailure(f"environment {environment.name} is {environment.state}; run `{make}`")
    route = ROUTES.get(plain_name(entry.bug.finding.camps[0].routes[0]))
    stages = route.stages if route is not None else ()
    library = next((stage.library for stage in stages if package.lower() in stage.owner.packages), "")
    versions = relevant_versions(entry.defect, route, versions_of(route)) if route is not None else {}
    return _Entry(entry, environment, library, versions)


def _bounds(releases: Sequence[str], low: str, high: str, package: str) -> tuple[int, int]:
    """The places of the oldest and the newest release to look at."""
    for option, version in (("low", low), ("high", high)):
        if version and version not in releases:
            raise UnknownName(
                f"expected a release of {package}: {', '.join(releases[-12:])} or an older one; "
                f"received {option}={version!r}"
            )
    found = (releases.index(low) if low else 0), (releases.index(high) if high else len(releases) - 1)
    if found[0] > found[1] or not releases:
        raise UnknownName(f"expected releases of {package} from low to high; received low={low!r}, high={high!r}")
    return found


def _learn(entry: _Entry, tries: Sequence[Try]) -> None:
    """Keep what was measured in the user's own ledger, if the package is a library of the bug's route."""
    learn([(entry.collected.slug, *each) for each in _measured(entry, tries)])


def _measured(entry: _Entry, tries: Sequence[Try]) -> list[Any]:
    if not entry.library:
        return []
    shown = any(each.result == "shows" for each in tries)
    foreign = not shown and not any(each.speaks_of(cpu_level()) for each in entry.defect.seen)
    return measured(tries, entry.versions, entry.library, foreign)


def _note(entry: _Entry, found: Bisected, folder: Path) -> int:
    """Write the releases around each change into the entry of a collection; how many measurements are new there."""
    among = Collection.read(folder)
    own = next((each for each in among.entries if each.slug == entry.collected.slug), None)
    if own is None:
        raise UnknownName(f"expected {entry.collected.slug} in the collection {folder}; received none")
    around = [each for flip in found.flips for each in (flip.before, flip.after)]
    with writing(folder):
        return note(own.files, _measured(replace(entry, collected=own), around))


def _plain(entry: _Entry, package: str, found: Bisected, noted: int, path: Path) -> dict[str, Any]:
    return {
        "bug": entry.collected.slug,
        "package": package,
        "environment": entry.environment.name,
        "changes": [
            {
                "what": "appeared" if flip.appeared else "went away",
                "last_before": flip.before.release,
                "first_after": flip.after.release,
                "between": list(flip.between),
            }
            for flip in found.flips
        ],
        "exhausted": found.exhausted,
        "tries": [msgspec.to_builtins(each) for each in found.tries],
        "noted": noted,
        "kept_in": str(path),
    }


def _print(entry: _Entry, package: str, found: Bisected, noted: int) -> None:
    table = Table("release", "result", "exit code", folding("why it cannot tell"), title=clean(entry.defect.title))
    for each in found.tries:
        code = "" if each.exit_code is None else str(each.exit_code)
        table.add_row(each.release, f"[{COLOURS[each.result]}]{each.result}[/]", code, clean(each.reason))
    console = Console(highlight=False)
    console.print(table)
    for flip in found.flips:
        console.print(_sentence(package, flip), soft_wrap=True)
    if not found.flips:
        console.print(_unchanged(package, found), soft_wrap=True)
    if found.exhausted:
        console.print("There are more releases to try: the same command goes on.")
    if entry.library:
        written = f", {plural(noted, 'measurement')} written into the entry" if noted else ""
        console.print(f"Kept in {overlay_path()}{written}", soft_wrap=True)


def _sentence(package: str, flip: Flip) -> str:
    word = "appeared" if flip.appeared else "went away"
    first = "first bad" if flip.appeared else "first good"
    text = f"It {word} with {package} {flip.after.release} ({first} release); {flip.before.release} is the last before"
    return text + (f"; {', '.join(flip.between)} in between cannot tell or were not tried" if flip.between else "")


def _unchanged(package: str, found: Bisected) -> str:
    if found.ends is None:
        return f"No release of {package} that was tried can tell."
    oldest, newest = found.ends
    return f"It {newest.result} from {package} {oldest.release} to {newest.release}."
