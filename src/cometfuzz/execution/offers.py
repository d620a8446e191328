"""Asking libraries what they have of the catalogue: once for each environment, then it is kept on disk.

A question is a small valid call about one thing: a layer, a parameter, or one of the values that can be listed. A child
makes it (`routes/offers.py`). What it refuses for want of a layer, a parameter or a value is lacking; a call that goes
wrong later is not, since that may be a bug that campaigns are there to find.
"""

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from cometfuzz.catalogue import CATALOGUE, LayerSpec
from cometfuzz.catalogue.drawing import layer_drafts
from cometfuzz.catalogue.offer import Lack, Offer, text_of
from cometfuzz.catalogue.spec import OPERATOR
from cometfuzz.catalogue.validate import assemble
from cometfuzz.draw import Draw
from cometfuzz.errors import CometfuzzError
from cometfuzz.execution import environments
from cometfuzz.execution.executor import python_of
from cometfuzz.execution.supervisor import Worker, WorkerLimits
from cometfuzz.execution.versions import installed, view_of
from cometfuzz.ir.graph import Edge, Graph, Inner, Params
from cometfuzz.ir.plain import typed_to_plain
from cometfuzz.ir.types import TensorType
from cometfuzz.ledger.matching import View
from cometfuzz.places import Place
from cometfuzz.protocol import Message, WireTensor
from cometfuzz.routes import Route, Step
from cometfuzz.routes.offers import FIND, MAKE, TAKE, offer_step

FORMAT = 1
"""Raise it when questions are asked in another way."""

MAX_BYTES = 4 * 2**20
AT_ONCE = 200
"""Questions in a request: between two of them progress is shown."""

TRIES = 30
LIMIT_S = 600.0


@dataclass(frozen=True)
class Question:
    """A call, and what it is about: the layer, which may be within that of the call, a parameter, and its value."""

    lack: Lack
    graph: Graph
    called: bool

    @property
    def rest(self) -> tuple[str, Params]:
        """The call without what it is about: that has its simplest value."""
        node = self.graph.nodes[-1]
        spec = CATALOGUE[node.layer]
        about = self.lack.parameter if node.layer == self.lack.layer else ""
        return node.layer, spec.complete({name: value for name, value in node.params.items() if name != about})

    @property
    def alone(self) -> bool:
        """Whether everything else about the call is simplest."""
        layer, params = self.rest
        return params == CATALOGUE[layer].complete({})

    def to_plain(self) -> dict[str, Any]:
        """As a child is asked."""
        about = {"layer": self.lack.layer, "parameter": self.lack.parameter, "called": self.called}
        return {**about, "graph": typed_to_plain(self.graph)}


@cache
def questions(dialect: str) -> tuple[Question, ...]:
    """All that is asked of a generation of Keras; of names that stand for the same thing in all layers, each once."""
    found: dict[Lack, Question] = {}
    named: set[tuple[str, str]] = set()
    for spec in CATALOGUE.values():
        if not (spec.counted or spec.kind == "cell") or dialect not in spec.libraries:
            continue
        for lack, fixed in _asked(spec):
            name = registry_of(lack.parameter), lack.value
            if name in named:
                continue
            graph = _unusual(spec, lack.parameter) if fixed is None else _call(spec, fixed, lack.parameter)
            if graph is not None:
                found[lack] = Question(lack, graph, called=spec.kind == OPERATOR)
                named |= {name} if name[0] else set()
    return tuple(found.values())


def _asked(spec: LayerSpec) -> Iterator[tuple[Lack, Mapping[str, Any] | None]]:
    """What is asked of a layer, each with the parameters of the call; without them where any other value will do."""
    yield Lack(spec.name), {}
    for name, space in spec.params.items():
        options = space.options()
        if options is None or space.numeric or registry_of(name):
            yield Lack(spec.name, name), None
        for value in options or () if not space.numeric else ():
            yield Lack(spec.name, name, text_of(value)), {name: value}


def _unusual(spec: LayerSpec, name: str) -> Graph | None:
    """A call in which a parameter has some value that is not the simplest one."""
    for index in range(TRIES):
        draw = Draw("offers", spec.name, name, index)
        types = spec.inputs(draw)
        params = spec.draw_params(draw, types, tries=4)
        if params is not None and params[name] != spec.params[name].simplest:
            plain = spec.complete({name: params[name]})
            return _graph(spec, types, plain if spec.accepts(types, plain) else params)
    return None


def _call(spec: LayerSpec, fixed: Mapping[str, Any], key: str) -> Graph | None:
    """A valid call with these parameters, all others simplest where that is possible; None if none is found."""
    plain = spec.complete(fixed)
    for types in _types(spec.name):
        if spec.accepts(types, plain):
            return _graph(spec, types, plain)
    for index, types in enumerate(_types(spec.name)):
        params = spec.draw_params(Draw("offers", spec.name, key, text_of(fixed), index), types, fixed, tries=12)
        if params is not None:
            return _graph(spec, types, params)
    return None


@cache
def _types(layer: str) -> tuple[tuple[TensorType, ...], ...]:
    """Some inputs of a layer, those of float32 first, as all libraries have that."""
    drawn = [CATALOGUE[layer].inputs(Draw("offers", layer, index)) for index in range(TRIES)]
    return tuple(sorted(drawn, key=lambda types: any(kind.is_float and kind.dtype != "float32" for kind in types)))


def _graph(spec: LayerSpec, types: tuple[TensorType, ...], params: Params) -> Graph | None:
    """A call as a graph; a cell stands in a layer that repeats it."""
    if spec.kind == "cell":
        return _call(CATALOGUE["RNN"], {"cell": Inner(spec.name, params)}, spec.name)
    drafts = layer_drafts(spec, types, params)
    return assemble(drafts, [Edge(drafts[-1].id)])


@dataclass(frozen=True)
class Kept:
    """An answer as it lies on disk."""

    library: str
    lacks: tuple[Lack, ...]


def offers_of(routes: Mapping[str, Route]) -> dict[str, Offer]:
    """What the front ends of some routes are known to lack: as they were asked, without what the ledger calls a defect
    there. Nothing of a route whose front end lacks nothing, or was never asked."""
    kept = {name: read(place) for name, route in routes.items() if (place := place_of(route)) is not None}
    view = view_of({name: route for name, route in routes.items() if kept.get(name) is not None})
    found = {name: _without_defects(view, name, offer) for name, offer in kept.items() if offer is not None}
    return {name: offer for name, offer in found.items() if offer.lacks}


def _without_defects(view: View, route: str, offer: Offer) -> Offer:
    if not offer.lacks:
        return offer
    asked = {question.lack: question for question in questions(view.routes[route].speaks)}

    def is_defect(lack: Lack) -> bool:
        question = asked.get(lack)
        if question is None:
            return False
        node, spec = question.graph.nodes[-1], CATALOGUE[question.graph.nodes[-1].layer]
        x = spec.view(question.graph.input_types(node), node.params)
        return any(True for _ in view.rules_against(route, spec, x, node.params))

    return Offer(offer.library, tuple(lack for lack in offer.lacks if not is_defect(lack)))


def digest_of(offers: Mapping[str, Offer]) -> str:
    """A name for what some routes lack; empty if they lack nothing."""
    plain = {name: [offer.library, sorted(map(str, offer.lacks))] for name, offer in offers.items() if offer.lacks}
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16] if plain else ""


def unasked(routes: Sequence[Route]) -> list[Route]:
    """Routes whose front ends have not been asked yet, one for each that can be."""
    waiting = {place: route for route in routes if (place := place_of(route)) is not None and read(place) is None}
    return list(waiting.values())


def ask_and_keep(route: Route, show: Callable[[int, int], None] = lambda done, total: None) -> Offer | None:
    """Ask the front end of a route, and keep what it answers."""
    offer, place = ask(route, show), place_of(route)
    if offer is not None and place is not None:
        Place(place.parent).write(place.name, msgspec.json.encode(Kept(offer.library, offer.lacks)))
    return offer


def place_of(route: Route) -> Path | None:
    """Where the answer of a route's front end is kept: named by its environment, what it is started with, and what it
    is asked. None if it builds no models of Keras, or if nobody knows its environment."""
    step = route.steps[0]
    try:
        environment = environments.find(step.group.environment)
    except CometfuzzError:
        return None
    if not step.live or not route.speaks:
        return None
    started = [str(environment.python), environment.digest, dict(step.group.environ), step.module, dict(step.options)]
    key = [started, dict(installed(step.group.environment)), _digest_of_catalogue()]
    name = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()[:16]
    return environments.cache_folder().parent / "offers" / f"{step.group.environment}-{name}.json"


@cache
def _digest_of_catalogue() -> str:
    """A name for all that may be asked."""
    plain = [
        [
            name,
            spec.kind,
            spec.libraries,
            [(key, space.describe(), space.options()) for key, space in spec.params.items()],
        ]
        for name, spec in CATALOGUE.items()
    ]
    return hashlib.sha256(text_of([FORMAT, plain]).encode()).hexdigest()[:16]


def read(path: Path) -> Offer | None:
    """A kept answer; None if there is none that can be used."""
    try:
        kept = msgspec.json.decode(Place(path.parent).read(path.name, MAX_BYTES), type=Kept)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    return _offer(kept)


def _offer(kept: Kept) -> Offer:
    """An answer, without what it says of things that are not in the catalogue."""
    known = [lack for lack in kept.lacks if lack.layer in CATALOGUE]
    known = [lack for lack in known if lack.parameter in ("", *CATALOGUE[lack.layer].params)]
    return Offer(kept.library[:80], tuple(sorted(known)))


def ask(route: Route, show: Callable[[int, int], None] = lambda done, total: None) -> Offer | None:
    """Ask the front end of a route, now; None if it does not start, or its adapter does not answer."""
    step, asked = offer_step(route.steps[0]), questions(route.speaks)
    refused: list[tuple[Question, str]] = []
    versions: Mapping[str, str] = {}
    done = 0
    with Worker(step.group, python_of(step.group), [step.module], WorkerLimits(recycle_after=10**6)) as worker:
        while done < len(asked):
            part = asked[done : done + AT_ONCE]
            answers = worker.perform(_request(step, part), [step] * len(part), time.monotonic() + LIMIT_S).results
            for index, result in answers.items():
                if result.status == "unavailable":
                    return None
                if result.status == "exception":
                    refused.append((part[index], result.stage))
            done += max(answers, default=0) + 1  # after one that has killed the child comes the next
            versions = worker.versions_of(step) or versions
            show(min(done, len(asked)), len(asked))
    library = route.steps[0].stages[0].owner
    version = next(iter(versions.values()), "")
    return _offer(Kept(f"{library.title} {version}".strip(), tuple(lacking(refused, route.speaks))))


def lacking(refused: Sequence[tuple[Question, str]], dialect: str) -> Iterator[Lack]:
    """What is lacking if these questions were refused, each in a stage.

    Some calls need other parameters that are not the simplest ones: they say nothing if one of those is lacking.
    """
    sure: list[Lack] = []
    for question, stage in sorted(refused, key=lambda each: not each[0].alone):
        lack = question.lack
        if stage == FIND:
            sure.append(Lack(lack.layer))
        elif stage == TAKE:
            sure.append(Lack(lack.layer, lack.parameter))
        elif stage == MAKE and lack.value and not Offer("", tuple(sure)).objection(*question.rest):
            sure += [lack, *_same_names(lack, dialect)]
    yield from dict.fromkeys(sure)


def _same_names(lack: Lack, dialect: str) -> Iterator[Lack]:
    """The same for all layers, where a name stands for the same thing in all of them."""
    registry = registry_of(lack.parameter)
    for spec in CATALOGUE.values() if registry and lack.value else ():
        if dialect in spec.libraries:
            yield from (Lack(spec.name, name, lack.value) for name in spec.params if registry_of(name) == registry)


def registry_of(parameter: str) -> str:
    """Where Keras looks up the values of a parameter, if that is one place for all layers; else nothing."""
    kind = parameter.rpartition("_")[2]
    return kind if kind in ("activation", "initializer", "regularizer", "constraint") else ""


def _request(step: Step, asked: Sequence[Question]) -> Message:
    texts = [json.dumps(question.to_plain()).encode() for question in asked]
    plain = {"module": step.module, "call": step.call, "options": dict(step.options), "after": None, "wanted": False}
    graph: dict[str, Any] = {"nodes": [], "outputs": []}
    header = {
        "graph": graph,
        "inputs": [],
        "weights": [],
        "steps": [{**plain, "given": at} for at in range(len(texts))],
    }
    return Message(header, [WireTensor("bytes", (len(text),), text) for text in texts])
