"""The observer in a worker: which branches and lines of the listed modules are reached, told once each.

It must begin before the library is imported. What the parent has seen already is handed over, so that a worker which is
started anew does not tell it again, and does not pay for it: a probe is there only until it is reached. Needs the
standard library, and slipcover inside functions.
"""

import gc
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from cometfuzz.execution.instrumenting import Cache, Instrumented, Label, Live, instrument

_NO_THRESHOLD = -1
"""Probes are taken away by `collect` only, never in the middle of the library's work."""

_MANY, _LONG = 100, 25
"""How many probes have done their work, or for how many cases, before they go: it takes 0.1 s to find all functions."""


def start(options: Mapping[str, Any]) -> "Observer":
    """An observer of the modules that the options list; it does nothing before it begins."""
    return Observer(options)


class Observer:
    """Instruments modules as they are imported; `collect` says what is new since the last time.

    The forms of `seen` and of what `collect` returns are those of `coverage.branches`.
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._patterns: Sequence[str] = options["modules"]
        self._cache = Path(options["cache"])
        self.newly_seen: dict[str, set[Label]] = defaultdict(set)
        """Where probes note what they reach: slipcover looks for this name."""
        self._modules: dict[str, Instrumented] = {}
        self._live: dict[str, Live] = {}
        self._missing: dict[str, set[Label]] = {}
        self._untold: list[str] = []
        self._begun = False
        self._idle: dict[str, set[Label]] = defaultdict(set)
        self._waited = 0

    def begin(self, seen: Mapping[str, Any]) -> None:
        """Read or make the instrumented code of every listed module, and stand in the way of its import; once."""
        if self._begun:
            return
        if sys.version_info[:2] != (3, 11):
            raise RuntimeError(f"branch coverage: expected Python 3.11; received version={sys.version.split()[0]}")
        cache = Cache(self._cache)
        for name, path in listed(self._patterns):
            module = instrument(path, cache)
            told = seen.get(name)
            self._modules[name], self._missing[name] = module, set(module.labels)
            if told is not None and told["digest"] == module.digest:
                self._missing[name] -= {*told["lines"], *map(tuple, told["branches"])}
            else:
                self._untold.append(name)
        sys.meta_path.insert(0, _Finder(self))
        self._begun = True

    def observes(self, name: str) -> bool:
        return name in self._modules

    def code_of(self, name: str) -> CodeType:
        """The module's code, with probes where something is still to be reached."""
        from slipcover import probe

        missing = self._missing[name]
        live = Live(self._modules[name].part, missing, lambda label: probe.new(self, name, label, _NO_THRESHOLD))
        self._live[name] = live
        return live.code

    def collect(self) -> dict[str, Any]:
        """What is reached now and was not before, by module; the first time also how much there is in each module."""
        reached, self.newly_seen = self.newly_seen, defaultdict(set)
        report: dict[str, Any] = {}
        for name in sorted({*self._untold, *reached}):
            labels = reached[name] & self._missing[name]
            if labels or name in self._untold:
                report[name] = _plain(self._modules[name], labels)
            self._missing[name] -= labels
            if labels:
                self._idle[name] |= labels
        self._untold = []
        self._waited = self._waited + 1 if self._idle else 0
        if self._waited >= _LONG or sum(map(len, self._idle.values())) >= _MANY:
            self._silence()
        return report

    def _silence(self) -> None:
        """Take away the probes of what is reached, in every function that exists, so that they cost nothing more."""
        replaced: dict[int, tuple[CodeType, CodeType]] = {}
        for name, labels in self._idle.items():
            self._live[name].remove(labels, replaced)
        self._idle.clear()
        self._waited = 0
        for thing in gc.get_objects():
            if type(thing) is FunctionType and id(thing.__code__) in replaced:
                thing.__code__ = replaced[id(thing.__code__)][1]


class _Finder(MetaPathFinder):
    """Finds the observed modules as Python would, and has them loaded with their instrumented code."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if not self._observer.observes(fullname):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _Loader(spec.loader.name, spec.loader.path, self._observer)
        return spec


class _Loader(SourceFileLoader):
    def __init__(self, name: str, path: str, observer: Observer) -> None:
        super().__init__(name, path)
        self._observer = observer

    def get_code(self, fullname: str) -> CodeType:
        return self._observer.code_of(fullname)


def _plain(module: Instrumented, labels: set[Label]) -> dict[str, Any]:
    branches = sorted(label for label in labels if isinstance(label, tuple))
    lines = sorted(label for label in labels if isinstance(label, int))
    total = sum(isinstance(label, tuple) for label in module.labels)
    return {
        "digest": module.digest,
        "all": [total, len(module.labels) - total],
        "branches": branches,
        "lines": lines,
    }


def listed(patterns: Sequence[str]) -> Iterator[tuple[str, Path]]:
    """Name and file of the modules that the patterns name and that are there; nothing is imported."""
    for pattern in patterns:
        top, *rest = pattern.removesuffix(".*").split(".")
        spec = PathFinder.find_spec(top)
        for folder in (spec.submodule_search_locations or []) if spec is not None else []:
            base = Path(folder, *rest)
            files = sorted(base.rglob("*.py")) if pattern.endswith(".*") else [base.with_suffix(".py")]
            for file in files:
                parts = [top, *file.relative_to(folder).with_suffix("").parts]
                if file.is_file() and not file.stem.endswith("_test"):
                    yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), file
