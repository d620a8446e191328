"""Operators that move blocks of images, and groups of axes; and linear algebra."""

from __future__ import annotations

from cometfuzz.routes.direct.convolution import channels_first, in_format
from cometfuzz.routes.direct.writing import Call, writes


@writes("ops.depth_to_space", "ops.space_to_depth")
def blocks(c: Call) -> str:
    """In both, row and column within a block come before the channel."""
    w, p = c.w, c.params
    x = channels_first(w, c.x[0], 4, p.data_format)
    if c.layer == "ops.depth_to_space":
        y = w.op("DepthToSpace", x, blocksize=p.block_size, mode="DCR")
    else:
        y = w.op("SpaceToDepth", x, blocksize=p.block_size)
    return in_format(w, y, 4, p.data_format)


@writes("ops.det")
def det(c: Call) -> str:
    return c.w.op("Det", c.x[0])
