"""Where the CPU time of a campaign went: by route, by stage, and by tenth of its time.

A stage that several routes of a trial share (one Keras model, one ONNX file) is done once; its time is charged to them
in equal parts. So the sum over all routes is what the libraries took, and a route that nobody shares with looks dear.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cometfuzz.campaign.records import Records

TENTHS = 10


@dataclass
class Spent:
    """What one route took. tenths: its CPU seconds in each tenth of the campaign's time."""

    models: int = 0
    completed: int = 0
    cpu_s: float = 0.0
    wall_s: float = 0.0
    tenths: list[float] = field(default_factory=lambda: [0.0] * TENTHS)


@dataclass(frozen=True)
class Profile:
    """CPU seconds by route, and by (library, stage) with the number of times that it ran."""

    routes: Mapping[str, Spent]
    stages: Mapping[tuple[str, str], float]
    runs: Mapping[tuple[str, str], float]
    elapsed_s: float

    @property
    def cpu_s(self) -> float:
        return sum(spent.cpu_s for spent in self.routes.values())

    def as_plain(self) -> dict[str, Any]:
        """As JSON."""
        totals = [sum(spent.tenths[tenth] for spent in self.routes.values()) for tenth in range(TENTHS)]
        routes = [
            {
                "route": name,
                "models": spent.models,
                "completed": spent.completed,
                "cpu_s": round(spent.cpu_s, 3),
                "wall_s": round(spent.wall_s, 3),
                "share": round(_share(spent.cpu_s, self.cpu_s), 5),
                "cpu_ms_per_model": round(1000 * _share(spent.cpu_s, spent.models), 2),
                "tenths": [round(_share(cpu_s, total), 5) for cpu_s, total in zip(spent.tenths, totals, strict=True)],
            }
            for name, spent in sorted(self.routes.items(), key=lambda item: -item[1].cpu_s)
        ]
        stages = [
            {
                "library": library,
                "stage": stage,
                "runs": round(self.runs[library, stage]),
                "cpu_s": round(cpu_s, 3),
                "share": round(_share(cpu_s, self.cpu_s), 5),
                "cpu_ms_per_run": round(1000 * _share(cpu_s, self.runs[library, stage]), 2),
            }
            for (library, stage), cpu_s in sorted(self.stages.items(), key=lambda item: -item[1])
        ]
        return {
            "elapsed_s": round(self.elapsed_s, 3),
            "library_cpu_s": round(self.cpu_s, 3),
            "routes": routes,
            "stages": stages,
        }


def profile_of(records: Records) -> Profile:
    """What a stored campaign took, which may be running."""
    elapsed = {point.index: point.elapsed_s for point in records.curve()}
    whole = max(elapsed.values(), default=0.0)
    routes: dict[str, Spent] = {}
    stages: dict[tuple[str, str], float] = defaultdict(float)
    runs: dict[tuple[str, str], float] = defaultdict(float)
    for ran in records.outcomes():
        spent = routes.setdefault(ran.result.route, Spent())
        tenth = min(
            int(TENTHS * _share(elapsed.get(ran.index, whole), whole)), TENTHS - 1
        )  # it may have come meanwhile
        spent.models += 1
        spent.completed += ran.result.status == "completed"
        for stage, library, wall_s, cpu_s, shared_by in ran.result.times:
            part = 1 / max(shared_by, 1)
            spent.wall_s += part * wall_s
            spent.cpu_s += part * cpu_s
            spent.tenths[tenth] += part * cpu_s
            stages[library, stage] += part * cpu_s
            runs[library, stage] += part
    return Profile(routes, stages, runs, whole)


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
