"""D_MAD, the metric of CRADLE that the paper uses at T = 0.4: recorded with every trial, never the gate.

Without labels the ground truth is all ones, as the paper's authors have it, and each instance of the batch has a number
of its own. It compares mean distances from 1 only; it does not see where in a tensor they are.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from cometfuzz.catalogue.data import Array
from cometfuzz.execution.comparing import array_of
from cometfuzz.execution.outcome import Outcome
from cometfuzz.protocol import WireTensor

THRESHOLD = 0.4
GROUND_TRUTH = 1.0


def mean_magnitude(outputs: Sequence[WireTensor]) -> float | None:
    """The mean of |y|, where y is the sum of all outputs, instance by instance; None without any element."""
    total = _by_instance(outputs)
    if total is None:
        return None
    with np.errstate(all="ignore"):
        return float(np.mean(np.abs(total)))


def largest_magnitude(completed: Mapping[str, Outcome]) -> float | None:
    """The largest finite |y| of all outputs; None without any."""
    arrays = [array_of(tensor) for outcome in completed.values() for tensor in outcome.outputs]
    sizes = [np.abs(array.astype(np.float64)) for array in arrays]
    return max((float(size[np.isfinite(size)].max()) for size in sizes if np.isfinite(size).any()), default=None)


def d_mad(completed: Mapping[str, Outcome]) -> float | None:
    """The largest D_MAD over all pairs of routes and all instances; None if there is no pair with finite outputs."""
    same: dict[bytes, list[Array]] = {}  # of those that are the same, two say all
    for mean in _mean_distances(completed):
        same.setdefault(mean.tobytes(), []).append(mean)
    return max(_apart([mean for means in same.values() for mean in means[:2]]), default=None)


def inconsistency(completed: Mapping[str, Outcome]) -> float:
    """D_MAD added up over all pairs of routes and all instances, as LEMON has it; 0 where there is no pair."""
    return math.fsum(_apart(_mean_distances(completed)))


def _mean_distances(completed: Mapping[str, Outcome]) -> list[Array]:
    """For each route, the mean distance of each instance from the ground truth."""
    found = []
    for outcome in completed.values():
        total = _by_instance(outcome.outputs)
        if total is not None:
            with np.errstate(all="ignore"):
                found.append(np.mean(np.abs(total - GROUND_TRUTH), axis=1))
    return found


def _apart(means: Sequence[Array]) -> list[float]:
    """The D_MAD of each pair and instance that is finite."""
    distances: list[float] = []
    for one, two in combinations(means, 2):
        if one.shape == two.shape:
            with np.errstate(all="ignore"):
                apart = np.where(one + two > 0, np.abs(one - two) / (one + two), 0.0)
            distances += apart[np.isfinite(one) & np.isfinite(two)].tolist()
    return distances


def _by_instance(outputs: Sequence[WireTensor]) -> Array | None:
    """The sum of all outputs, a row for each instance; an output that is shorter than another one is repeated.

    Where outputs do not have the batch in common, all of it is one instance.
    """
    arrays = [array for array in map(array_of, outputs) if array.size]
    if not arrays:
        return None
    batches = {array.shape[:1] for array in arrays}
    rows = batches.pop()[0] if len(batches) == 1 and arrays[0].ndim else 1
    flat = [array.astype(np.float64).reshape(rows, -1) for array in arrays]
    width = max(array.shape[1] for array in flat)
    with np.errstate(all="ignore"):
        return np.asarray(sum(array[:, np.arange(width) % array.shape[1]] for array in flat))
