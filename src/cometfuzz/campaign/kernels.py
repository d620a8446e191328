"""Which kernels the models of a campaign led to: stored cases run again on routes that tell (`routes/telling.py`).

There is no honest total of what a library has, so nothing here is a percentage: things are counted, and what is new to
the last of the cases says whether more cases would bring more. It depends on the CPU, and on no decision of a campaign.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import msgspec

from cometfuzz.campaign.records import Records
from cometfuzz.execution.executor import Executor
from cometfuzz.execution.machine import this_machine
from cometfuzz.execution.supervisor import WorkerLimits
from cometfuzz.ir.case import Case
from cometfuzz.places import Place
from cometfuzz.routes import Route
from cometfuzz.routes.telling import GEOMETRY, IMPLEMENTATION, REWRITING, Told, read, telling

FILE = "kernels.json"
LAST = 100
"""What is new to so many of the last cases is named."""

HEADINGS = {IMPLEMENTATION: "kernels", GEOMETRY: "with sizes", REWRITING: "rewritings"}
"""What is told, as tables call it."""

MAX_BYTES = 2**26

Thing = TypeVar("Thing")


class Row(msgspec.Struct, frozen=True):
    """One kind of thing on one route. first_seen: for each, after how many cases of the route it was new, in order."""

    route: str
    library: str
    kind: str
    cases: int
    first_seen: list[int]
    names: list[str]

    @property
    def count(self) -> int:
        return len(self.names)

    def __str__(self) -> str:
        return f"{self.count} (+{self.lately})" if self.lately else str(self.count)

    @property
    def lately(self) -> int:
        """How many of them were new to the last cases, or to the second half where there were few."""
        since = self.cases - min(LAST, self.cases // 2)
        return sum(place > since for place in self.first_seen)


class Kernels(msgspec.Struct, frozen=True):
    """What was told, by route, with the CPU on which it was."""

    machine: str
    cases: int
    rows: list[Row]

    @property
    def table(self) -> dict[tuple[str, str], dict[str, Row]]:
        """By route and library: the row of each kind that there is."""
        found: dict[tuple[str, str], dict[str, Row]] = {}
        for row in self.rows:
            found.setdefault((row.route, row.library), {})[row.kind] = row
        return found


@dataclass
class _Counting:
    """Of one route: how many cases it has completed, and after how many each thing was new."""

    cases: int = 0
    found: dict[Told, int] = field(default_factory=dict)

    def take(self, told: set[Told]) -> None:
        self.cases += 1
        for each in sorted(told):
            self.found.setdefault(each, self.cases)


def kernels_of(
    records: Records,
    routes: Mapping[str, Route],
    most: int,
    limits: WorkerLimits | None = None,
    advance: Callable[[int, int], None] = lambda done, total: None,
) -> Kernels:
    """Run up to `most` cases again, evenly out of the whole campaign, on those of `routes` on which each ran."""
    chosen = list(evenly([(case, [name for name in names if name in routes]) for case, names in _ran(records)], most))
    counting = {name: _Counting() for name in routes}
    with Executor([telling(route) for route in routes.values()], limits=limits, listens=True) as executor:
        for place, (case_id, names) in enumerate(chosen):
            advance(place, len(chosen))
            for name, text in _heard(executor, records.case(case_id), names):
                counting[name].take(read(text))
    rows = [row for name, counted in counting.items() for row in _rows(name, counted)]
    return Kernels(str(this_machine(routes.values())), len(chosen), rows)


def _heard(executor: Executor, case: Case, names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What each route printed that came to its end. Of what routes share, all of them have it."""
    for name, outcome in executor.run(case, names).outcomes.items() if names else ():
        if outcome.status == "completed":
            yield name, outcome.printed


def _ran(records: Records) -> Iterator[tuple[str, list[str]]]:
    """The cases of a campaign in their order, with the routes that each ran on; no calls that break a rule."""
    sql = (
        "SELECT DISTINCT t.case_id, o.route FROM trials t JOIN outcomes o USING (case_index, part) "
        "ORDER BY case_index, part"
    )
    found: dict[str, list[str]] = {}
    for row in records.select(sql):
        found.setdefault(row["case_id"], []).append(row["route"])
    yield from found.items()


def evenly(things: Sequence[Thing], most: int) -> Iterator[Thing]:
    """Up to `most` of them at equal steps."""
    count = min(most, len(things))
    for place in range(count):
        yield things[place * len(things) // count]


def _rows(route: str, counted: _Counting) -> Iterator[Row]:
    kinds: dict[tuple[str, str], list[Told]] = {}
    for told in counted.found:
        kinds.setdefault((told.library, told.kind), []).append(told)
    for (library, kind), every in kinds.items():
        yield Row(route, library, kind, counted.cases, [counted.found[each] for each in every], [e.name for e in every])


def write_kernels(place: Place, kernels: Kernels) -> None:
    """Keep it in a campaign's folder, where reports find it."""
    place.write(FILE, msgspec.json.format(msgspec.json.encode(kernels), indent=1))


def read_kernels(place: Place) -> Kernels | None:
    """What is kept in a campaign's folder, if it is what we write."""
    if not place.kind(FILE):
        return None
    try:
        return msgspec.json.decode(place.read(FILE, MAX_BYTES), type=Kernels)
    except msgspec.DecodeError:
        return None


def as_plain(kernels: Kernels) -> dict[str, Any]:
    """As JSON for a user: with the counts that tables show."""
    rows = [{**msgspec.to_builtins(row), "count": row.count, "lately": row.lately} for row in kernels.rows]
    return {"machine": kernels.machine, "cases": kernels.cases, "rows": rows}
