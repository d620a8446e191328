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
INT8, FLOAT8 = "int8", "float8"
"""again: the model that the route has run, once more. graph: compiled. predict: in several batches. types: the result
against what the library said of it before, for a batch of any size; unchecked: the same for the batch as it is,
whatever the catalogue predicts. int8 and float8: the layers that the library can quantise to that are
quantised."""

QUANTISED = (INT8, FLOAT8)

ANY_BATCH = "build_open"
"""What builds a model for a batch of any size."""

_ENGINES = "cometfuzz.triage.scripts.engines"


def form_of(route: Route, form: str) -> Route | None:
    """A route in another form; None if it has none of that name."""
    steps = route.forms.get(form)
    return None if steps is None else replace(route, name=f"{route.name}/{form}", steps=steps, forms={})


def _quantised(build: Step, run: Step, to: str) -> tuple[Step, Step]:
    build = replace(build, name=f"{build.name}-{to}", call=f"build_{to}")
    return build, replace(run, name=to, engine=f"{_ENGINES}:quantised_to_{to}")


def keras_forms(build: Step, run: Step) -> Mapping[str, tuple[Step, Step]]:
    """The forms of a route that is Keras 3 and nothing else."""
    opened = replace(build, name=f"{build.name}-open", call=ANY_BATCH)
    unchecked = replace(build, name=f"{build.name}-unchecked", call="build_unchecked")
    types = replace(run, name=TYPES, call="run_typed")
    forms = {
        AGAIN: (build, replace(run, name=AGAIN)),
        PREDICT: (opened, replace(run, name=PREDICT, call="predict", engine=f"{_ENGINES}:predicted")),
        TYPES: (opened, types),
        UNCHECKED: (unchecked, types),
        **{to: _quantised(build, run, to) for to in QUANTISED},
    }
    if build.group.environ.get("KERAS_BACKEND") == TENSORFLOW.name:
        stages = (Stage("trace", TENSORFLOW), Stage("run", TENSORFLOW))
        module = "cometfuzz.routes.tensorflow"
        traced = Step("tf-graph", build.group, module, "tf_graph", stages, engine=f"{_ENGINES}:traced")
        forms[GRAPH] = build, traced
    return forms
