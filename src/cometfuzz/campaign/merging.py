"""Merging: several campaigns as one folder, which is a campaign's like theirs, so that all that reads one reads it.

The cases of each campaign stand behind those of the one before, as if one head had run them one after the other; time
is added up. What is covered is counted anew from the cases themselves. A case that an earlier campaign has as well is
counted once: of the later run only what is new is added to it, routes or versions that it had not run on, and findings
of other kinds. Nothing of the sources is changed, and the new folder is there as a whole or not at all.
"""

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from cometfuzz.campaign.events import CaseDone, Ended, Event, Executed, Notice, Started
from cometfuzz.campaign.loop import learn_of_routes
from cometfuzz.campaign.reached import save_branches, stored_branches
from cometfuzz.campaign.records import Records
from cometfuzz.campaign.retelling import retold
from cometfuzz.campaign.schema import plain_words
from cometfuzz.campaign.store import Store
from cometfuzz.campaign.stored import FindingId, SessionRow
from cometfuzz.config import PolicyConfig
from cometfuzz.coverage.branches import Branches
from cometfuzz.coverage.gain import Coverage, summary_of
from cometfuzz.coverage.layers import SIGMA, SPACES
from cometfuzz.coverage.routes import RouteCoverage
from cometfuzz.errors import InvalidCampaign, InvalidCase
from cometfuzz.execution.budget import Budget
from cometfuzz.execution.reference import REFERENCE
from cometfuzz.ir.case import Case
from cometfuzz.oracles.finding import Finding
from cometfuzz.places import Place
from cometfuzz.triage.bug import Bug

SHARED = ("strategy", "seed", "sigma", "graphs", "between", "pairs", "version")
"""Settings that the merged campaign has where all have the same."""

REMEMBERED = 512
"""Cases of which the model is remembered: those of a chunk are asked for twice."""


@dataclass
class Part:
    """What one campaign brought: cases that were new, those that an earlier one had, and those left out because their
    files cannot be read."""

    folder: str
    cases: int = 0
    new: int = 0
    again: int = 0
    left_out: int = 0


def merge(
    folders: Sequence[Path], out: Path, show: Callable[[int, int], None] = lambda done, total: None
) -> list[Part]:
    """Merge campaigns into a new folder. A campaign that runs is taken as far as it is now."""
    _expect_apart(folders, out)
    draft = out.parent / f".{out.name}.{os.getpid()}.draft"
    with ExitStack() as stack:
        sources = [stack.enter_context(Records(folder)) for folder in folders]
        try:
            with Store.create(draft, _settings(sources)) as store:
                store.files.durable = False  # nobody has the draft of before a power cut: it is synced as a whole
                store.connection.execute("PRAGMA synchronous = OFF")
                parts = _Merger(store, sources).merge(show)
            with plain_words(out):
                os.sync()
                Place(out.parent).move(draft.name, Place(out.parent), out.name)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return parts


def _expect_apart(folders: Sequence[Path], out: Path) -> None:
    """Refuse a campaign that is named twice, and a place that is taken or that belongs to one of them."""
    real = [folder.resolve() for folder in folders]
    if len(set(real)) < 2 or len(set(real)) < len(real):
        raise InvalidCampaign(
            f"expected two campaigns or more, each of them once; received {', '.join(map(str, folders))}"
        )
    for folder in real:
        if out.resolve().is_relative_to(folder):
            raise InvalidCampaign(f"{out}: expected a new folder outside of the campaigns; received one in {folder}")
    if os.path.lexists(out) and not (out.is_dir() and not out.is_symlink() and not any(out.iterdir())):
        raise InvalidCampaign(f"{out}: expected a new folder, or an empty one; received one that has something in it")


def _settings(sources: Sequence[Records]) -> dict[str, Any]:
    """What the merged campaign says of itself: what was merged, and the settings that all of them share."""
    each = [source.settings for source in sources]
    shared = {
        name: each[0][name]
        for name in SHARED
        if name in each[0] and all(one.get(name) == each[0][name] for one in each)
    }
    routes = dict.fromkeys(name for one in each for name in one.get("routes", ()))
    merged = [
        {
            "folder": str(source.folder),
            "cometfuzz": source.made_by,
            "cases": source.done,
            **{
                name: one[name] for name in ("strategy", "seed", "ledger", "offers", "cpu") if one.get(name) is not None
            },
        }
        for source, one in zip(sources, each, strict=True)
    ]
    return {**shared, "routes": list(routes), "merged": merged}


class _Merger:
    """Tells the campaigns to a new store, one after the other."""

    def __init__(self, store: Store, sources: Sequence[Records]) -> None:
        sigma = store.settings.get("sigma", SIGMA)
        sigma = sigma if isinstance(sigma, int) and 1 <= sigma <= 1000 else SIGMA
        self.store, self.sources = store, sources
        self.covered = [Coverage(space(sigma)) for space in SPACES]
        routes = [name for name in store.routes if name != REFERENCE.name]
        self.ran = RouteCoverage({name: [space(sigma) for space in SPACES] for name in routes})
        self._free = Budget(PolicyConfig(), {})
        self.earlier: dict[str, int] = {}
        """The index of each case of the campaigns before."""
        self.elapsed_s = 0.0
        self.nodes: dict[str, Mapping[str, Any]] = {}
        self.reached = Branches()

    def merge(self, show: Callable[[int, int], None]) -> list[Part]:
        parts = [Part(str(source.folder), source.done) for source in self.sources]
        triaged = [list(source.settled()) for source in self.sources]  # before bugs, which are kept first
        bugs: dict[str, Bug] = {}
        for source in self.sources:
            for bug in source.bugs():
                bugs[bug.id] = _better(bugs[bug.id], bug) if bug.id in bugs else bug
        for bug in bugs.values():
            self.store.keep(bug)
        settled: set[FindingId] = set()
        shown: set[str] = set()
        if len({str(source.settings.get("ledger", "")) for source in self.sources}) > 1:
            self.store.handle(Notice("the campaigns went by different ledgers: what counts as known is as each had it"))
        total, before = sum(part.cases for part in parts), 0
        for source, part, of_source in zip(self.sources, parts, triaged, strict=True):
            names = self._take(source, part, partial(_later, show, before, total))
            self._take_branches(source, part)
            for each in of_source:
                name = names.get(each.finding)
                if name is not None and name not in settled:
                    self.store.settle(replace(each, finding=name, first=each.first and each.bug_id not in shown))
                    settled.add(name)
                    shown |= {each.bug_id} if each.first else set()
            before += part.cases
        self.store.conclude(summary_of(self.covered), self.ran.summary(), self.nodes)
        if self.reached.modules:
            save_branches(self.store.folder, self.reached)
        return parts

    def _take(self, source: Records, part: Part, show: Callable[[int], None]) -> dict[FindingId, FindingId]:
        """Tell one campaign; return under which names its findings are now."""
        names: dict[FindingId, FindingId] = {}
        mine: dict[str, int] = {}

        @lru_cache(REMEMBERED)
        def case(case_id: str) -> Case | None:
            try:
                return source.case(case_id)
            except InvalidCase:
                return None

        renamed = self._take_nodes(source, part)
        notices = list(source.notices())
        for start, end, session in _spans(source, part.cases):
            if session is not None:
                settings = {**session.settings, "campaign": part.folder}
                settings.pop("nodes", None)  # kept once, for all
                self._handle(Started(settings, self.store.done, {}, self.elapsed_s))
            told = start
            for event in retold(source, start, end, case):
                while notices and notices[0][0] <= event.index:
                    self._handle(Notice(f"{part.folder}: {notices.pop(0)[1]}"))
                part.left_out += event.index - told
                told = event.index + 1
                event = replace(
                    event, parts=[replace(each, node=renamed.get(each.node, each.node)) for each in event.parts]
                )
                at = self.earlier.get(event.case_id)
                if at is None:
                    mine.setdefault(event.case_id, self.store.done)
                    self._add(event, names)
                    part.new += 1
                else:
                    self._add_again(event, at, names)
                    part.again += 1
                show(told)
            part.left_out += end - told
            if session is not None and session.reason is not None:
                self._handle(self._ended(session))
        for _, text in notices:
            self._handle(Notice(f"{part.folder}: {text}"))
        if part.left_out:
            count = f"{part.left_out} cases were left out, since their files cannot be read"
            self._handle(Notice(f"{part.folder}: {count}: `cometfuzz resume` may make them anew"))
        self.earlier |= mine
        self.elapsed_s += source.elapsed_s
        return names

    def _take_branches(self, source: Records, part: Part) -> None:
        """Add what a campaign has reached in the libraries' code. In other sources, which are those of other versions,
        a branch is another one: there those of the campaign count that came first."""
        theirs, known = stored_branches(source.folder).to_plain(), self.reached.to_plain()
        others = {name for name in theirs if name in known and theirs[name]["digest"] != known[name]["digest"]}
        if others:
            count = f"{len(others)} of {len(theirs)} observed modules"
            self._handle(Notice(f"{part.folder}: {count} have other sources there; their branches are left out"))
        self.reached.merge({name: module for name, module in theirs.items() if name not in others})
        if theirs and self.store.done:
            self.store.reach(self.reached.branch_share._asdict())

    def _take_nodes(self, source: Records, part: Part) -> dict[str, str]:
        """The nodes of a campaign; return the new names of those whose name an earlier one has for another node."""
        renamed = {}
        for name, node in source.nodes.items():
            if self.nodes.get(name, node) != node:
                renamed[name] = f"{name} ({part.folder})"
            self.nodes[renamed.get(name, name)] = node
        return renamed

    def _handle(self, event: Event) -> None:
        self.store.handle(event)

    def _ended(self, session: SessionRow) -> Ended:
        elapsed_s = self.elapsed_s + (session.elapsed_s or 0.0)
        spent = session.own_cpu_s or 0.0, session.library_cpu_s or 0.0
        return Ended(session.reason or "", self.store.done, elapsed_s, {}, *spent)

    def _add(self, event: CaseDone, names: dict[FindingId, FindingId]) -> None:
        """A case that is new."""
        index = self.store.done
        self._learn(event, event.parts)
        parts = [replace(part, part=number) for number, part in enumerate(event.parts)]
        for old, part in zip(event.parts, parts, strict=True):
            for place in range(len(part.findings)):
                names[event.index, old.part, place] = index, part.part, place
        elapsed_s = self.elapsed_s + event.elapsed_s
        coverage = summary_of(self.covered)
        branches = None if self.reached.modules else event.branches  # of two together only the end is known
        event = replace(event, index=index, parts=parts, coverage=coverage, branches=branches, elapsed_s=elapsed_s)
        self._handle(event)

    def _add_again(self, event: CaseDone, index: int, names: dict[FindingId, FindingId]) -> None:
        """A case that an earlier campaign has: outcomes by route and versions, and findings by key, that are new."""
        outcomes = {
            (ran.case_id, ran.result.route, _versions(ran.result.versions))
            for ran in self.store.outcomes(index, index + 1)
        }
        found = {(each.case_id, each.finding.key): each.id for each in self.store.findings(index, index + 1)}
        number = 1 + max((part for _, part in self._numbers(index)), default=-1)
        added: list[Executed] = []
        for part in event.parts:
            results = [
                each for each in part.results if (part.case_id, each.route, _versions(each.versions)) not in outcomes
            ]
            findings: list[Finding] = []
            for place, finding in enumerate(part.findings):
                key = part.case_id, finding.key
                if key not in found:
                    found[key] = index, number, len(findings)
                    findings.append(finding)
                names[event.index, part.part, place] = found[key]
            if results or findings:
                added.append(replace(part, part=number, results=results, findings=findings))
                number += 1
        if added:
            self._learn(event, added)
            self.store.append(index, added, bool(event.feedback["executed"]))

    def _numbers(self, index: int) -> Iterator[tuple[int, int]]:
        for row in self.store.select("SELECT case_index, part FROM trials WHERE case_index = ?", index):
            yield row["case_index"], row["part"]

    def _learn(self, event: CaseDone, parts: Sequence[Executed]) -> None:
        """Count what a case covers, in all and on its routes."""
        if event.feedback["executed"]:
            for coverage in self.covered:
                coverage.cover(event.case.graph)
        for part in parts:
            learn_of_routes(self.ran, self._free, part.case, {each.route: each.status for each in part.results})


def _later(show: Callable[[int, int], None], before: int, total: int, done: int) -> None:
    show(before + done, total)


def _spans(source: Records, done: int) -> Iterator[tuple[int, int, SessionRow | None]]:
    """The cases of each session, from the first to before the last; those before any session come first."""
    sessions: list[SessionRow | None] = [None]
    starts = [0]
    for each in source.sessions():
        sessions.append(each)
        starts.append(min(max(each.first_index, starts[-1]), done))
    for start, end, session in zip(starts, [*starts[1:], done], sessions, strict=True):
        if session is not None or end > start:
            yield start, end, session


def _versions(versions: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(versions.items()))


def _better(one: Bug, other: Bug) -> Bug:
    """Of two bugs with one signature the one whose script shows it, then the one that has a script, then the first; it
    is known if either was."""
    best = max(one, other, key=lambda bug: (bug.reported, bug.script is not None))
    said = next((bug for bug in (best, one, other) if bug.known), best)
    return best if best.known or not said.known else replace(best, known=said.known, limit=said.limit)
