"""The observer where slipcover's bytecode is not known: branches and lines by coverage.py, for older interpreters.

It has the interface of `observer`, and counts as coverage.py does, which is how the paper counted. A branch to the end
of a function is (line, minus the line of the function), as coverage.py has it. Traced code takes a multiple of its
time. Needs the standard library, and coverage.py inside functions.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any, NamedTuple

NO_COVER = r"#\s*(pragma|PRAGMA)[:\s]?\s*(no|NO)\s*(cover|COVER)"
"""What coverage.py leaves out if nobody tells it otherwise."""


class Source(NamedTuple):
    """A module: its file, what there is to reach in it, and where statements of several lines begin."""

    path: str
    digest: str
    branches: frozenset[Any]
    lines: frozenset[int]
    firsts: Mapping[int, int]

    def first(self, line: int) -> int:
        """The line where the statement of a line begins; of minus a line, minus that."""
        return self.firsts.get(line, line) if line > 0 else -self.firsts.get(-line, -line)


def start(options: Mapping[str, Any]) -> Tracer:
    """An observer of the modules that the options list; it does nothing before it begins."""
    return Tracer(options)


class Tracer:
    """Traces the listed modules; `collect` says what is new since the last time, in the form of `coverage.branches`."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._patterns: Sequence[str] = options["modules"]
        self._cache = Path(options["cache"])
        self._sources: dict[str, Source] = {}
        self._told: dict[str, tuple[set[Any], set[int]]] = {}
        self._untold: list[str] = []
        self._coverage: Any = None

    def begin(self, seen: Mapping[str, Any]) -> None:
        """Read the modules, and trace what is imported from now on; once."""
        if self._coverage is not None:
            return
        import coverage

        for name, path in listed(self._patterns):
            source = read_source(path, self._cache)
            self._sources[name] = source
            told = seen.get(name)
            if told is not None and told["digest"] == source.digest:
                self._told[name] = set(map(tuple, told["branches"])), set(told["lines"])
            else:
                self._told[name] = set(), set()
                self._untold.append(name)
        paths = [source.path for source in self._sources.values()]
        self._coverage = coverage.Coverage(data_file=None, branch=True, include=paths, config_file=False)
        self._coverage.start()

    def collect(self) -> dict[str, Any]:
        """What is reached now and was not before, by module; the first time also how much there is in each module."""
        if self._coverage is None:
            return {}
        self._coverage.stop()
        data = self._coverage.get_data()
        report: dict[str, Any] = {}
        for name, source in self._sources.items():
            arcs = {(source.first(one), source.first(other)) for one, other in data.arcs(source.path) or ()}
            branches, lines = self._told[name]
            fresh = source.branches & arcs - branches, source.lines & {end for arc in arcs for end in arc} - lines
            if any(fresh) or name in self._untold:
                totals = [len(source.branches), len(source.lines)]
                found = {"branches": sorted(map(list, fresh[0])), "lines": sorted(fresh[1])}
                report[name] = {"digest": source.digest, "all": totals, **found}
                branches |= fresh[0]
                lines |= fresh[1]
        self._untold = []
        self._coverage.start()
        return report


def read_source(path: Path, cache: Path) -> Source:
    """What there is to reach in a module, as coverage.py counts: kept on disk, since it takes seconds."""
    from coverage import __version__

    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()[:16]
    place = cache / f"traced-{__version__}-{digest}.json"
    try:
        branches, lines, firsts = json.loads(place.read_text(encoding="ascii"))
    except (OSError, ValueError):
        branches, lines, firsts = _parsed(path)
        with contextlib.suppress(OSError):
            cache.mkdir(mode=0o700, parents=True, exist_ok=True)
            part = place.with_name(f"{place.name}.{os.getpid()}")
            part.write_text(json.dumps([branches, lines, firsts]), encoding="ascii")
            os.replace(part, place)
    return Source(str(path), digest, frozenset(map(tuple, branches)), frozenset(lines), dict(firsts))


def _parsed(path: Path) -> tuple[list[Any], list[int], list[Any]]:
    """All branches (arcs of a line with several), all lines, and (line, first line) of statements of several lines."""
    from coverage.parser import PythonParser
    from coverage.python import get_python_source

    text = get_python_source(str(path))
    parser = PythonParser(text=text, filename=str(path), exclude=NO_COVER)
    parser.parse_source()
    exits = parser.exit_counts()
    branches = sorted(arc for arc in parser.arcs() if exits.get(arc[0], 0) > 1)
    firsts = [(line, parser.first_line(line)) for line in range(1, text.count("\n") + 2)]
    return branches, sorted(parser.statements), [each for each in firsts if each[0] != each[1]]


def listed(patterns: Sequence[str]) -> Iterator[tuple[str, Path]]:
    """Name and file of the modules that the patterns name and that are there; nothing is imported."""
    for pattern in patterns:
        top, *rest = pattern.split(".")
        spec = PathFinder.find_spec(top)
        for folder in (spec.submodule_search_locations or []) if spec is not None else []:
            file = Path(folder, *rest).with_suffix(".py")
            if file.is_file():
                yield pattern, file
