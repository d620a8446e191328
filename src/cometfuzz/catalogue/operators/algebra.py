"""Operators of linear algebra, in float32 and float64: what computes them (LAPACK, Eigen) has no half precision.

Left out, since nobody could say whether they are right: `cholesky` and `logdet` take positive definite matrices, which
drawn tensors and results of other layers are not; `cholesky_inverse` is documented for the matrix and takes its factor;
`eigh` and `qr` have vectors whose signs are up to the library, `eig` is complex; `lu_factor` is documented to give
pivots without a word on what they are. So are `inv`, `solve`, `solve_triangular`, `pinv`, `lstsq`, `svd` and
`matrix_rank`: libraries refuse singular matrices and NaN there, each in its own way, and the tensors of a model are
often singular.
"""

from collections.abc import Mapping
from functools import partial

from cometfuzz.catalogue.operators import Types, draw_dtype, many, operator
from cometfuzz.catalogue.spec import Ours, Rule, Shape
from cometfuzz.draw import Draw
from cometfuzz.ir.types import TensorType

WHOLE = ("float32", "float64")
_MOST = 6


def _draw_batch(draw: Draw) -> Shape:
    return tuple(draw.integer(1, 3) for _ in range(draw.choice((0, 0, 0, 1, 1, 2, 2, 3))))


def _draw_square(draw: Draw) -> Types:
    size = draw.integer(1, _MOST)
    return (TensorType(draw_dtype(draw, WHOLE), (*_draw_batch(draw), size, size)),)


NOT_EMPTY: Mapping[str, Rule] = {
    "no matrix is empty": Ours(lambda x, p: all(kind.elements > 0 for kind in many(x))),
}
SMALL: Mapping[str, Rule] = {
    "matrices are small": Ours(lambda x, p: max(many(x)[0].shape[-2:]) <= 2 * _MOST),
    **NOT_EMPTY,
}
SQUARE: Mapping[str, Rule] = {
    "matrices are square": lambda x, p: many(x)[0].shape[-1] == many(x)[0].shape[-2],
    **SMALL,
}
_algebra = partial(operator, ranks=range(2, 6), dtypes=WHOLE)

_algebra(
    "det",
    rules=SQUARE,
    output_ranks=range(4),
    shape=lambda x, p: x.shape[:-2],
    inputs=_draw_square,
    doc="The determinant of each matrix.",
)
_algebra(
    "slogdet",
    ranks=(2,),
    rules=SQUARE,
    output_ranks=(0,),
    shape=lambda x, p: [(), ()],
    inputs=lambda draw: tuple(TensorType(kind.dtype, kind.shape[-2:]) for kind in _draw_square(draw)),
    doc="The sign of the determinant, and the logarithm of its absolute value.",
)
