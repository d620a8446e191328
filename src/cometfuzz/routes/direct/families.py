"""All writers, family by family: to import this is to have them registered."""

from __future__ import annotations

from cometfuzz.routes.direct import (
    activation,
    attention,
    convolution,
    dense,
    merging,
    normalisation,
    pooling,
    preprocessing,
    recurrent,
    regularising,
    reshaping,
    utility,
    wrapping,
)
from cometfuzz.routes.direct.operators import (
    arranging,
    blocks,
    elementwise,
    joining,
    neural,
    normalising,
    picking,
    products,
    reducing,
    repeating,
    sorting,
    windows,
)
from cometfuzz.routes.direct.writing import WRITERS as WRITERS

FAMILIES = (
    *(activation, attention, convolution, dense, merging, normalisation, pooling, preprocessing, recurrent),
    *(regularising, reshaping, utility, wrapping, arranging, blocks, elementwise, joining, neural, normalising),
    *(picking, products, reducing, repeating, sorting, windows),
)
