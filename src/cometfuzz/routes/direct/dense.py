"""Dense and EinsumDense."""

from __future__ import annotations

from cometfuzz.routes.direct.activation import activated
from cometfuzz.routes.direct.writing import Call, writes


@writes("Dense")
def dense(c: Call) -> str:
    w, p, kernel = c.w, c.params, c.weight(c.weights[0])
    if p.use_bias and c.rank == 2:
        y = w.op("Gemm", c.x[0], kernel, c.weight(c.weights[1]))
    else:
        y = w.op("MatMul", c.x[0], kernel)
        y = w.op("Add", y, c.weight(c.weights[1])) if p.use_bias else y
    return activated(w, y, p.activation, p.units)


@writes("EinsumDense")
def einsum_dense(c: Call) -> str:
    w, p = c.w, c.params
    y = w.op("Einsum", c.x[0], c.weight(c.weights[0]), equation=p.equation)
    y = w.op("Add", y, c.weight(c.weights[1])) if p.bias_axes is not None else y
    return activated(w, y, p.activation, c.outputs[0].shape[-1])
