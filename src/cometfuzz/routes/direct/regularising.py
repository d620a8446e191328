"""Regularising layers: in inference they hand their input on. A dropout is said as one, which readers take away."""

from __future__ import annotations

from cometfuzz.routes.direct.writing import Call, writes


@writes("Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D")
def dropout(c: Call) -> str:
    return c.w.op("Dropout", c.x[0])


@writes("GaussianDropout", "AlphaDropout", "GaussianNoise", "ActivityRegularization")
def unchanged(c: Call) -> str:
    return c.w.op("Identity", c.x[0])
