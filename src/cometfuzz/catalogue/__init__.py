"""The layer catalogue: one declarative block per layer, and the only judge of validity.

Importing this package loads every family; `CATALOGUE` then holds all specs by name. After ours come the layers of other
packages: each entry point of the group "cometfuzz.layers" names a module with blocks and their meanings.
"""

from dataclasses import replace
from importlib import import_module

from cometfuzz.catalogue.spec import CATALOGUE, LAYER, OPERATOR, LayerSpec, spec_of
from cometfuzz.errors import CometfuzzError
from cometfuzz.plugins import found, import_told, told_modules

GROUP = "cometfuzz.layers"
OPERATOR_FAMILIES = (
    "operators.elementwise",
    "operators.reducing",
    "operators.sorting",
    "operators.products",
    "operators.algebra",
    "operators.neural",
    "operators.normalising",
    "operators.windows",
    "operators.spectral",
    "operators.arranging",
    "operators.repeating",
    "operators.blocks",
    "operators.joining",
    "operators.picking",
    "operators.imaging",
)
FAMILIES = (
    "utility",
    "dense",
    "activation",
    "convolution",
    "pooling",
    "recurrent",
    "conv_recurrent",
    "normalisation",
    "attention",
    "merging",
    "reshaping",
    "regularising",
    "preprocessing",
    "augmentation",
    "spectral",
    "lookup",
    "wrapping",
    *OPERATOR_FAMILIES,
)


def _load() -> None:
    for family in FAMILIES:
        known = set(CATALOGUE)
        import_module(f"cometfuzz.catalogue.{family}")
        for name in [name for name in CATALOGUE if name not in known]:
            CATALOGUE[name] = replace(CATALOGUE[name], family=family)


def _plug_in(module: str, family: str) -> str:
    """Take up the blocks of a module from outside; what is wrong with it, if it cannot be used."""
    known, problem = set(CATALOGUE), ""
    try:
        (import_module if told_modules() is None else import_told)(module)
    except (ImportError, SyntaxError, AttributeError, TypeError, ValueError, CometfuzzError) as error:
        problem = f"{module}: {type(error).__name__}: {error}"
    made = {name: replace(spec, family=family) for name, spec in CATALOGUE.items() if name not in known}
    if not problem and (small := [name for name in made if not name[:1].isupper()]):
        problem = f"{module}: expected names of layers that begin with a capital letter; received layer={small[0]!r}"
    for name in made:
        if problem:
            del CATALOGUE[name]
        else:
            CATALOGUE[name] = made[name]
            if made[name].kind == LAYER:
                LAYERS[name] = made[name]
    return problem


_load()

LAYERS = {name: spec for name, spec in CATALOGUE.items() if spec.kind == LAYER}
"""The layers that coverage counts: no utility node, no cell, no graph input."""

OPERATORS = {name: spec for name, spec in CATALOGUE.items() if spec.kind == OPERATOR}
"""The functions of keras.ops that may be nodes."""

_TOLD = told_modules()
PLUGGED = {point.name: point.value for point in found(GROUP)} if _TOLD is None else {name: name for name in _TOLD}
"""The modules with layers from outside, by the names of their entry points."""

BROKEN = {family: problem for family, module in PLUGGED.items() if (problem := _plug_in(module, family))}
"""Those that cannot be used, each with the reason; nothing of them is in the catalogue."""

COUNTED = {**LAYERS, **OPERATORS}
"""Layers and operators: all that coverage counts."""

__all__ = ["BROKEN", "CATALOGUE", "COUNTED", "FAMILIES", "LAYERS", "OPERATORS", "PLUGGED", "LayerSpec", "spec_of"]
