"""The layer catalogue: one declarative block per layer, and the only judge of validity.

Importing this package loads every family; `CATALOGUE` then holds all specs by name.
"""

from dataclasses import replace
from importlib import import_module

from cometfuzz.catalogue.spec import CATALOGUE, LayerSpec, spec_of

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
    "wrapping",
)


def _load() -> None:
    for family in FAMILIES:
        known = set(CATALOGUE)
        import_module(f"cometfuzz.catalogue.{family}")
        for name in [name for name in CATALOGUE if name not in known]:
            CATALOGUE[name] = replace(CATALOGUE[name], family=family)


_load()

LAYERS = {name: spec for name, spec in CATALOGUE.items() if spec.counted}
"""The layers that coverage counts: no utility node, no cell, no graph input."""

__all__ = ["CATALOGUE", "FAMILIES", "LAYERS", "LayerSpec", "spec_of"]
