"""D_MAD, the metric of CRADLE that the paper uses at T = 0.4: recorded with every trial, never the gate.

Without labels the ground truth is zero, so it compares mean magnitudes only; it sees neither signs nor positions.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from cometfuzz.execution.comparing import array_of
from cometfuzz.execution.outcome import Outcome
from cometfuzz.execution.protocol import WireTensor

THRESHOLD = 0.4


def mean_magnitude(outputs: Sequence[WireTensor]) -> float | None:
    """The mean of |y|, where y is the sum of all outputs, each reshaped to the largest one's size; None without any."""
    arrays = [array_of(tensor).astype(np.float64).reshape(-1) for tensor in outputs]
    size = max((array.size for array in arrays), default=0)
    if not size:
        return None
    total = np.zeros(size)
    with np.errstate(all="ignore"):
        for array in arrays:
            total += np.resize(array, size) if array.size else 0.0
        return float(np.mean(np.abs(total)))


def d_mad(completed: Mapping[str, Outcome]) -> float | None:
    """The largest D_MAD over all pairs of routes; None if there is no pair with finite outputs."""
    means = [mean for outcome in completed.values() if (mean := mean_magnitude(outcome.outputs)) is not None]
    finite = [mean for mean in means if np.isfinite(mean)]
    distances = [abs(one - two) / (one + two) if one + two else 0.0 for one, two in combinations(finite, 2)]
    return max(distances, default=None)
