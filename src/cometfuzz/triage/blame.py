"""Blame: the earliest stage that all failing routes share and no agreeing route has."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from cometfuzz.execution.reference import REFERENCE
from cometfuzz.routes import Library, Route, Stage, Step, Switch
from cometfuzz.routes.libraries import KERAS, LITERT_CONVERTER, ONNX, TENSORFLOW, TF2ONNX
from cometfuzz.routes.switches import plain_name, shared_switch
from cometfuzz.triage.bug import Blame

EVERYBODY = "all libraries"
AGAINST = "all libraries against the reference"
NO_STAGE = 0.3
"""How sure a blame is that found no stage which the failing routes share and no other has."""

EVERY_BACKEND = "Keras on every backend"
KERAS_BACKEND = re.compile(r"Keras, (\w+) backend")
"""The role of a backend of Keras."""

IN_A_LAYER = "Exception encountered when calling"
"""How Keras begins a message about whatever is raised while a layer or an operation is called."""


class _Place(NamedTuple):
    """One stage on the way of one route: `way` is all that leads to it, by which it is told from others."""

    way: tuple[str, ...]
    stage: Stage
    step: Step
    last: bool


def blame(routes: Mapping[str, Route], failing: Sequence[str], agreeing: Sequence[str], failed_in: str = "") -> Blame:
    """Who is at fault, given which routes failed in one way and which did right.

    failed_in: the stage in which an exception was raised; nothing after it is to blame.
    """
    libraries = [name for name in failing if name in routes and name != REFERENCE.name]
    right = [name for name in agreeing if name in routes and name != REFERENCE.name]
    if (switch := _by_switch(routes, libraries, right, failed_in)) is not None:
        return switch
    libraries = list(dict.fromkeys(map(plain_name, libraries)))
    right = [name for name in right if routes[name].switch is None]
    ways = [_places(routes[name], failed_in) for name in libraries]
    if not right:
        return _everybody(ways, libraries)
    meant = _meant(ways)
    innocent = {place.way for name in right for place in _places(routes[name])} - meant
    shared = [
        place
        for place in ways[0]
        if place.way not in innocent and all(any(place.way == other.way for other in way) for way in ways[1:])
    ]
    if not shared and (keras := _keras_itself(routes, libraries, right)) is not None:
        return keras
    if not shared:
        return _by_library(ways, libraries, [_places(routes[name]) for name in right])
    culprit = shared[0]
    before = culprit.way[:-1]
    control = [name for name in right if not before or any(place.way == before for place in _places(routes[name]))]
    pinned = len(libraries) > 1 or all(place.stage.library == culprit.stage.library for place in shared)
    does = "does" if len(right) == 1 else "do"
    reasoning = f"{_names(libraries)} {_verb(libraries)} and {_one(libraries)} {_named(culprit)}"
    reasoning += f"; {_names(right)} {does} right without it"
    if control and before:
        reasoning += f", and {control[0]} has all that comes before it"
    return _blame(culprit, reasoning, 0.5 + 0.25 * bool(control) + 0.2 * pinned)


def traced(who: Blame, message: str) -> Blame:
    """A blame, or that of Keras, if what failed while TensorFlow traced a model was the call of a layer: it asks for
    what a tensor without values cannot tell. Keras says in the message that it was.

    Not where PyTorch traces: what its tracers cannot follow may be their fault as well.
    """
    by_tensorflow = who.library in (TENSORFLOW.name, TF2ONNX.name, LITERT_CONVERTER.name)
    if not by_tensorflow or KERAS_BACKEND.fullmatch(who.role) or IN_A_LAYER not in message:
        return who
    reasoning = f"{who.reasoning}; but it was the call of a layer that raised, while TensorFlow traced it"
    return replace(who, library=KERAS.name, role=f"{KERAS.title}, tensorflow backend", reasoning=reasoning)


def _meant(ways: Sequence[Sequence[_Place]]) -> set[tuple[str, ...]]:
    """The ways to files that say what failing routes compute: ONNX's own evaluator reads them so, and another reader
    too. One that does right all the same, since it computes in more digits perhaps, does not show that the file is."""
    read = {way[-1].step.key: way for way in ways if way[-1].stage.owner == ONNX}
    found: set[tuple[str, ...]] = set()
    for way in read.values():
        file = [place.way for place in way if place.step is not way[-1].step][-1:]
        others = {other[-1].stage.library for other in ways for place in other if place.way in file}
        found.update(file if len(others) > 1 else ())
    return found


def _by_switch(
    routes: Mapping[str, Route], failing: Sequence[str], right: Sequence[str], failed_in: str
) -> Blame | None:
    """The library whose switch alone tells a route that fails from one that does right."""
    found = routes[failing[0]]
    if found.switch is None or plain_name(found.name) not in right or not shared_switch(failing):
        return None
    places = _places(found, failed_in)
    culprit = next((place for place in places if place.stage.library == found.switch.library.name), places[-1])
    text = f"{_names(failing)} {_verb(failing)} and {plain_name(found.name)} does right: only {found.switch.says}"
    role = f"runtime {found.switch.library.title}, only {found.switch.says}"
    return Blame(culprit.stage.library, culprit.stage.name, role, text, 0.9)


def with_degrees(who: Blame, failing: Sequence[Switch], right: Sequence[Switch]) -> Blame:
    """A blame that also says how it depends on switches of the library, of which some were tried.

    Of a ladder, such as the levels of an optimiser, it is the lowest degree at which it appears that is to blame.
    """
    degrees = [f"it appears {switch.says}" for switch in failing if switch.ladder][:1]
    others = " or ".join(switch.says for switch in right)
    without = [f"it does not show {others}"] if others else []
    return replace(who, reasoning="; ".join([who.reasoning, *degrees, *without]))


def _places(route: Route, failed_in: str = "") -> list[_Place]:
    places: list[_Place] = []
    way: tuple[str, ...] = ()
    for step in route.steps:
        for stage in step.stages:
            way = (*way, f"{step.key}:{stage.name}")
            places.append(_Place(way, stage, step, step is route.steps[-1]))
            if stage.name == failed_in:
                return places
    return places


def _blame(culprit: _Place, reasoning: str, confidence: float) -> Blame:
    return Blame(culprit.stage.library, culprit.stage.name, _role(culprit), reasoning, round(confidence, 2))


def _role(place: _Place) -> str:
    name = place.stage.owner.role or place.stage.owner.title
    backend = place.step.options.get("backend")
    if backend is not None:
        return f"{KERAS.title}, {backend} backend"
    if place.stage.name == place.step.name != "run":  # a step that is named after what converts in it, and may go on
        return f"converter {place.stage.name}"
    if place.step.live:
        return f"front end {name}"
    if place.stage.owner == KERAS:
        return f"{name}, {place.stage.name}"
    return f"runtime {name}" if place.last else f"converter {name}"


def _everybody(ways: Sequence[Sequence[_Place]], libraries: Sequence[str]) -> Blame:
    """No route does right: a front end that all share, or the reference itself, may be wrong."""
    ends, fronts = [way[-1].stage for way in ways], [way[0].stage for way in ways]
    text = f"{_names(libraries)} {_verb(libraries)}"
    stage, role = Stage("", Library(EVERYBODY)), AGAINST
    if len(set(ends)) == 1:
        stage = ends[0]
        text += f", all of them in {_named(ways[0][-1])}"
    elif len(set(fronts)) == 1:
        stage = fronts[0]
        text += f", all of them with a model that {stage.library} built"
    if stage in fronts and _backends(ways):
        role = f"{EVERY_BACKEND} ({AGAINST})"
    return Blame(stage.library, stage.name, role, f"{text}, and only the reference does otherwise", 0.5)


def _backends(ways: Sequence[Sequence[_Place]]) -> bool:
    """Whether these are ways through several backends of Keras."""
    return len({way[0].step.options.get("backend") for way in ways} - {None}) > 1


def _keras_itself(routes: Mapping[str, Route], failing: Sequence[str], right: Sequence[str]) -> Blame | None:
    """Keras, if it fails on several backends and does right on none of the same environment, where another Keras may
    be; a conversion may mend what it gets."""

    def backends(names: Sequence[str]) -> list[str]:
        ends = [routes[name].steps[-1] for name in names]
        return [str(step.options["backend"]) for step in ends if "backend" in step.options]

    seen, here = backends(failing), {routes[name].steps[0].group.environment for name in failing}
    if len(seen) < 2 or backends([name for name in right if routes[name].steps[0].group.environment in here]):
        return None
    text = f"{_names(failing)} {_verb(failing)}, Keras on {_names(seen)} among them, and on no backend does it right"
    return Blame(KERAS.name, "build", EVERY_BACKEND, text, 0.6)


def _by_library(ways: Sequence[Sequence[_Place]], libraries: Sequence[str], right: Sequence[Sequence[_Place]]) -> Blame:
    """No stage is shared; perhaps a library is: the same one in several environments or on several backends."""
    innocent = {place.stage for way in right for place in way}
    for place in ways[0]:
        if place.stage not in innocent and all(any(place.stage == other.stage for other in way) for way in ways[1:]):
            text = (
                f"{_names(libraries)} {_verb(libraries)} and have {place.stage.library} in common, the others have not"
            )
            found = _blame(place, text, 0.6)
            return replace(found, role=EVERY_BACKEND) if place is ways[0][0] and _backends(ways) else found
    text = f"{_names(libraries)} {_verb(libraries)} without a stage that they share and no other route has"
    return _blame(ways[0][-1], text, NO_STAGE)


def _names(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else names[0]


def _verb(names: Sequence[str]) -> str:
    return "fail" if len(names) > 1 else "fails"


def _one(names: Sequence[str]) -> str:
    return "all pass through" if len(names) > 1 else "passes through"


def _named(place: _Place) -> str:
    stage, library = place.stage.name, place.stage.library
    return library if stage == library else f"{stage} of {library}"
