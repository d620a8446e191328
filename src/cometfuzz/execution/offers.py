"""Asking libraries what they have of the catalogue: once for each environment, then it is kept on disk.

A question is a small valid call about one thing: a layer, a parameter, or one of the values that can be listed. A child
makes it (`routes/offers.py`). What it refuses for want of a layer, a parameter or a value is lacking; a call that goes
wrong later is broken: that may be a bug, which campaigns are there to find, but not in the midst of every model.
"""

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from cometfuzz.catalogue import CATALOGUE, LayerSpec
from cometfuzz.catalogue.drawing import layer_drafts
from cometfuzz.catalogue.offer import Lack, Offer, has_both, text_of, together
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

FORMAT = 6
"""Raise it when questions are asked in another way."""

MAX_BYTES = 4 * 2**20
AT_ONCE = 200
"""Questions in a request: between two of them progress is shown."""

TRIES = 30
SEVERAL = 2
"""Of how many values a parameter is tried whose values cannot be listed."""

LIMIT_S = 600.0


@dataclass(frozen=True)
class Question:
    """A call, and what it is about: the layer, which may be within that of the call, a parameter, and its value."""

    lack: Lack
    graph: Graph

    @property
    def rest(self) -> tuple[str, Params, str]:
        """The call without the value that it is about, which is the simplest one, and the dtype of its first input."""
        node = self.graph.nodes[-1]
        about = self.lack.parameter if node.layer == self.lack.layer and self.lack.value else ""
        others = CATALOGUE[node.layer].complete({name: each for name, each in node.params.items() if name != about})
        whole = self.lack.dtype and not self.lack.parameter
        return node.layer, others, "" if whole else self.graph.input_types(node)[0].dtype

    @property
    def complexity(self) -> tuple[bool, int, bool]:
        """The order in which answers are looked at: what can be blamed on something simpler comes after it."""
        layer, params, _ = self.rest
        special = bool(self.lack.parameter) + bool(self.lack.value)
        return params != CATALOGUE[layer].complete({}), special, bool(self.lack.dtype)

    def to_plain(self) -> dict[str, Any]:
        """As a child is asked."""
        about = {"layer": self.lack.layer, "parameter": self.lack.parameter, "called": self.called}
        return {**about, "graph": typed_to_plain(self.graph)}

    @property
    def called(self) -> bool:
        """Whether the call is made: not if only the name of a parameter matters, since each of its values is asked
        about elsewhere, and a call of a recurrent layer takes a tenth of a second."""
        return bool(self.lack.value) or not registry_of(self.lack.parameter)


@cache
def questions(dialect: str) -> tuple[Question, ...]:
    """All that is asked of a generation of Keras; of names that stand for the same thing in all layers, each once."""
    found: list[Question] = []
    named: set[tuple[str, str]] = set()
    for spec in CATALOGUE.values():
        if not (spec.counted or spec.kind == "cell") or dialect not in spec.libraries:
            continue
        found += [Question(lack, graph) for lack, graph in _asked(spec, named)]
    return tuple(found)


def _asked(spec: LayerSpec, named: set[tuple[str, str]]) -> Iterator[tuple[Lack, Graph]]:
    """What is asked of a layer, each with a call; `named`: what has been asked for all layers, and now is."""
    if (graph := _call(spec, {}, "")) is not None:
        yield Lack(spec.name), graph
    for dtype in spec.dtypes if spec.counted else ():
        if dtype != "float32" and (graph := _with_dtype(spec, dtype)) is not None:
            yield Lack(spec.name, dtype=dtype), graph
    for name, space in spec.params.items():
        options, registry = space.options(), registry_of(name)
        if options is None or space.numeric:
            yield from ((Lack(spec.name, name), graph) for graph in _unusual(spec, name, SEVERAL))
            continue
        if registry:
            yield from ((Lack(spec.name, name), graph) for graph in _unusual(spec, name, 1))
        for value in options:
            text = text_of(value)
            if (registry, text) not in named and (graph := _call(spec, {name: value}, name)) is not None:
                yield Lack(spec.name, name, text), graph
                if registry:
                    named.add((registry, text))
                    for dtype in spec.dtypes if spec.counted else ():
                        if dtype != "float32" and (graph := _with_dtype(spec, dtype, {name: value})) is not None:
                            yield Lack(spec.name, name, text, dtype), graph
    for names in spec.together:
        if (graph := _both(spec, names)) is not None:
            yield Lack(spec.name, together(names)), graph


def _both(spec: LayerSpec, names: tuple[str, str]) -> Graph | None:
    """A call in which two parameters have values that are not the simplest ones; None if none is found."""
    for index, types in enumerate(_types(spec.name)):
        params = spec.draw_params(Draw("offers", spec.name, together(names), index), types, tries=4)
        if params is not None and has_both(spec, names, params):
            plain = spec.complete({name: params[name] for name in names})
            return _graph(spec, types, plain if spec.accepts(types, plain) else params)
    return None


def _with_dtype(spec: LayerSpec, dtype: str, fixed: Mapping[str, Any] | None = None) -> Graph | None:
    """A call on a dtype, with the simplest parameters but for some."""
    plain, high = spec.complete(fixed or {}), 2 if dtype == "int32" else None
    for types in _types(spec.name):
        first = types[0].dtype
        cast = tuple(replace(kind, dtype=dtype, high=high) if kind.dtype == first else kind for kind in types)
        if spec.accepts(cast, plain):
            return _graph(spec, cast, plain)
    return None


def _unusual(spec: LayerSpec, name: str, count: int) -> Iterator[Graph]:
    """Calls in which a parameter has values that are not the simplest one, so many at most."""
    seen = {text_of(spec.params[name].simplest)}
    for index, types in enumerate(_types(spec.name)):
        if len(seen) > count:
            return
        params = spec.draw_params(Draw("offers", spec.name, name, index), types, tries=4)
        if params is None or text_of(params[name]) in seen:
            continue
        plain = spec.complete({name: params[name]})
        graph = _graph(spec, types, plain if spec.accepts(types, plain) else params)
        if graph is not None:
            seen.add(text_of(params[name]))
            yield graph


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
    """Some inputs of a layer: first those of float32, as all libraries have that, and small ones, empty ones last."""

    def order(types: tuple[TensorType, ...]) -> tuple[bool, bool, int]:
        sizes = [kind.elements for kind in types]
        return any(kind.is_float and kind.dtype != "float32" for kind in types), 0 in sizes, sum(sizes)

    return tuple(sorted((CATALOGUE[layer].inputs(Draw("offers", layer, at)) for at in range(TRIES)), key=order))


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
    broken: tuple[Lack, ...]


def offers_of(routes: Mapping[str, Route]) -> dict[str, Offer]:
    """What the front ends of some routes are known to lack: as they were asked, without what the ledger calls a defect
    there. Nothing of a route whose front end lacks nothing, or was never asked."""
    kept = {name: read(place) for name, route in routes.items() if (place := place_of(route)) is not None}
    view = view_of({name: route for name, route in routes.items() if kept.get(name) is not None})
    found = {name: without_defects(view, name, offer) for name, offer in kept.items() if offer is not None}
    return {name: offer for name, offer in found.items() if offer.lacks or offer.broken}


def without_defects(view: View, route: str, offer: Offer) -> Offer:
    """An offer without what the ledger calls a defect: that is what a campaign looks for."""
    if not offer.lacks and not offer.broken:
        return offer
    found, known = {*offer.lacks, *offer.broken}, set()
    for question in questions(view.routes[route].speaks):
        if question.lack not in found:
            continue
        node, spec = question.graph.nodes[-1], CATALOGUE[question.graph.nodes[-1].layer]
        x = spec.view(question.graph.input_types(node), node.params)
        known |= {question.lack for _ in view.rules_against(route, spec, x, node.params)}

    def unknown(lacks: Sequence[Lack]) -> tuple[Lack, ...]:
        return tuple(lack for lack in lacks if lack not in known)

    # What is not there at all raises whatever a defect would raise, and is none.
    absent = tuple(lack for lack in offer.lacks if lack == Lack(lack.layer) and lack in known)
    return Offer(offer.library, (*absent, *unknown(offer.lacks)), unknown(offer.broken))


def digest_of(offers: Mapping[str, Offer]) -> str:
    """A name for what some routes lack; empty if they lack nothing."""
    plain = {
        name: [offer.library, sorted(map(str, offer.lacks)), sorted(map(str, offer.broken))]
        for name, offer in offers.items()
        if offer.lacks or offer.broken
    }
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16] if plain else ""


def unasked(routes: Sequence[Route]) -> list[Route]:
    """Routes whose front ends have not been asked yet, one for each that can be."""
    waiting = {place: route for route in routes if (place := place_of(route)) is not None and read(place) is None}
    return list(waiting.values())


def ask_and_keep(route: Route, show: Callable[[int, int], None] = lambda done, total: None) -> Offer | None:
    """Ask the front end of a route, and keep what it answers."""
    offer, place = ask(route, show), place_of(route)
    if offer is not None and place is not None:
        Place(place.parent).write(place.name, msgspec.json.encode(Kept(offer.library, offer.lacks, offer.broken)))
    return offer


def place_of(route: Route) -> Path | None:
    """Where the answer of a route's front end is kept: named by its environment, what it is started with, and what it
    is asked.

    None if it builds no models of Keras, or if nobody knows its environment; or if it is not a copy in another
    environment: conformance holds the catalogue against the libraries that routes are registered with.
    """
    step = route.steps[0]
    if not step.live or not route.speaks or not route.like:
        return None
    try:
        environment = environments.find(step.group.environment)
    except CometfuzzError:
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
            *map(together, spec.together),
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

    def known(lacks: Sequence[Lack]) -> tuple[Lack, ...]:
        found = [lack for lack in lacks if lack.layer in CATALOGUE]
        return tuple(sorted(each for each in found if each.parameter in ("", *_names(CATALOGUE[each.layer]))))

    return Offer(kept.library[:80], known(kept.lacks), known(kept.broken))


def _names(spec: LayerSpec) -> tuple[str, ...]:
    """What a question may be about: parameters, and two of them together."""
    return (*spec.params, *map(together, spec.together))


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
    return _offer(Kept(f"{library.title} {version}".strip(), *lacking(refused, route.speaks)))


def lacking(refused: Sequence[tuple[Question, str]], dialect: str) -> tuple[tuple[Lack, ...], tuple[Lack, ...]]:
    """What is lacking, and what is broken, if these questions were refused, each in a stage.

    Some calls need other parameters that are not the simplest ones: they say nothing if one of those is lacking.
    """
    lacks: dict[Lack, None] = {}
    broken: dict[Lack, None] = {}
    failed: Counter[Lack] = Counter()
    for question, stage in sorted(refused, key=lambda each: each[0].complexity):
        lack = question.lack
        if stage == FIND:
            lacks[Lack(lack.layer)] = None
        elif stage == TAKE:
            lacks[Lack(lack.layer, lack.parameter)] = None
        elif (
            Lack(lack.layer) in broken
            or replace(lack, dtype="") in {**lacks, **broken}
            or Offer("", (*lacks, *broken)).objection(*question.rest)
        ):
            continue
        elif stage == MAKE and lack.value:
            lacks.update(dict.fromkeys([lack, *_same_names(lack, dialect)]))
        elif stage == MAKE and lack.parameter not in CATALOGUE[lack.layer].params:  # two together
            lacks[lack] = None
        elif lack.value or lack.parameter not in CATALOGUE[lack.layer].params:
            broken.update(dict.fromkeys([lack, *_same_names(lack, dialect)]))
        elif not registry_of(lack.parameter):  # of which every name is asked by itself
            failed[lack] += SEVERAL if stage == MAKE else 1
    broken.update(dict.fromkeys(lack for lack, times in failed.items() if times >= SEVERAL))
    return tuple(lacks), tuple(broken)


def _same_names(lack: Lack, dialect: str) -> Iterator[Lack]:
    """The same for all layers, where a name stands for the same thing in all of them."""
    registry = registry_of(lack.parameter)
    for spec in CATALOGUE.values() if registry and lack.value else ():
        if dialect in spec.libraries:
            names = [name for name in spec.params if registry_of(name) == registry]
            yield from (replace(lack, layer=spec.name, parameter=name) for name in names)


def registry_of(parameter: str) -> str:
    """Where Keras looks up the values of a parameter, if that is one place for all layers; else nothing."""
    kind = parameter if parameter == "activity_regularizer" else parameter.rpartition("_")[2]
    return kind if kind in REGISTRIES else ""


REGISTRIES = ("activation", "initializer", "regularizer", "constraint", "activity_regularizer")
"""Kinds of names; a regulariser of a layer's activity is another thing than one of its weights, by the same name."""


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
