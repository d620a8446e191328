"""All writers, family by family: to import this is to have them registered."""

from __future__ import annotations

from cometfuzz.routes.direct import (
    activation,
    convolution,
    dense,
    merging,
    normalisation,
    pooling,
    regularising,
    reshaping,
    utility,
)
from cometfuzz.routes.direct.operators import (
    arranging,
    elementwise,
    joining,
    neural,
    normalising,
    picking,
    products,
    reducing,
    repeating,
    windows,
)
from cometfuzz.routes.direct.writing import WRITERS as WRITERS

FAMILIES = (
    *(activation, convolution, dense, merging, normalisation, pooling, regularising, reshaping, utility),
    *(arranging, elementwise, joining, neural, normalising, picking, products, reducing, repeating, windows),
)
