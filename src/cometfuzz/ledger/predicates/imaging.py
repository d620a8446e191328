"""Conditions on operators on images."""

from typing import Any

from cometfuzz.ir.graph import Params
from cometfuzz.ledger.predicates import predicate


@predicate
def resized_to_one_column(x: Any, p: Params) -> bool:
    """Images are resized to one column of several rows."""
    return bool(p.size[1] == 1 < p.size[0])


@predicate
def several_images(x: Any, p: Params) -> bool:
    """A batch of more than one image."""
    return bool(x.rank == 4 and x.shape[0] > 1)


@predicate
def blur_differs_by_axis(x: Any, p: Params) -> bool:
    """gaussian_blur has another size or deviation along the height than along the width."""
    return len(set(p.kernel_size)) > 1 or len(set(p.sigma)) > 1


@predicate
def patches_start_late(x: Any, p: Params) -> bool:
    """Patches with "same" padding lie apart by two places or more: TensorFlow's padding would be negative."""
    return bool(p.padding == "same" and any(s - k >= 2 for s, k in zip(p.strides or p.size, p.size, strict=True)))
