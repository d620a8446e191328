"""Forms: other ways to run the very model that a route runs, mostly in the same child and on the same build.

A form is a Route that nobody chooses: it is named ROUTE/FORM, and only relations ask for it. A route declares which it
has (`Route.forms`); what follows are those of Keras 3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cometfuzz.routes import Route, Stage, Step
from cometfuzz.routes.libraries import TENSORFLOW

AGAIN, GRAPH, PREDICT, TYPES, UNCHECKED = "again", "graph", "predict", "types", "unchecked"
QUANTISED = "quantised"
"""again: the model that the route has run, once more. graph: compiled. predict: in several batches. types: the result
against what the library said of it before, for a batch of any size; unchecked: the same for the batch as it is,
whatever the catalogue predicts. quantised: the layers that the library can have in int8 are in int8."""

ANY_BATCH = "build_open"
"""What builds a model for a batch of any size."""

_ENGINES = "cometfuzz.triage.scripts.engines"


def form_of(route: Route, form: str) -> Route | None:
    """A route in another form; None if it has none of that name."""
    steps = route.forms.get(form)
    return None if steps is None else replace(route, name=f"{route.name}/{form}", steps=steps, forms={})


def keras_forms(build: Step, run: Step) -> Mapping[str, tuple[Step, Step]]:
    """The forms of a route that is Keras 3 and nothing else."""
    opened = replace(build, name=f"{build.name}-open", call=ANY_BATCH)
    unchecked = replace(build, name=f"{build.name}-unchecked", call="build_unchecked")
    types = replace(run, name=TYPES, call="run_typed")
    quantised = replace(build, name=f"{build.name}-quantised", call="build_quantised")
    forms = {
        AGAIN: (build, replace(run, name=AGAIN)),
        PREDICT: (opened, replace(run, name=PREDICT, call="predict", engine=f"{_ENGINES}:predicted")),
        TYPES: (opened, types),
        UNCHECKED: (unchecked, types),
        QUANTISED: (quantised, replace(run, name=QUANTISED, engine=f"{_ENGINES}:quantised")),
    }
    if build.group.environ.get("KERAS_BACKEND") == TENSORFLOW.name:
        stages = (Stage("trace", TENSORFLOW), Stage("run", TENSORFLOW))
        module = "cometfuzz.routes.tensorflow"
        traced = Step("tf-graph", build.group, module, "tf_graph", stages, engine=f"{_ENGINES}:traced")
        forms[GRAPH] = build, traced
    return forms
