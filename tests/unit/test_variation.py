"""A check that can tell something: inputs, and weights where they are untrained, on which the output varies."""

from collections.abc import Sequence

import numpy as np
import pytest
from trials import Routes, chain, raised

from cometfuzz.catalogue.data import draw_data, expected_tensors, to_array, to_tensor
from cometfuzz.execution.outcome import Trial
from cometfuzz.ir.case import Case, Tensor
from cometfuzz.oracles.local import GATE
from cometfuzz.oracles.variation import TRIES, Varied, untrained, vary
from cometfuzz.routes.registry import ROUTES

LAYERS = (("Dense", {"units": 5}), ("BatchNormalization", {}), ("Dense", {"units": 3, "activation": "softmax"}))


def stored(kernel: float, bias: float = 0.0, *layers: tuple[str, dict[str, object]]) -> Case:
    """A model from a file: all its kernels and biases have one value, its statistics are fresh."""
    case = chain((2, 6), *(layers or LAYERS))
    data: dict[str, Tensor] = {}
    for key, (_, shape) in expected_tensors(case.graph).items():
        ones = key.endswith(("gamma", "variance"))
        value = kernel if key.endswith("kernel") else bias if key.endswith("bias") else float(ones)
        if key != "x":
            data[key] = to_tensor(np.full(shape, value, np.float32))
    return Case(case.graph, case.rng_seed, data)


def varied(case: Case, names: Sequence[str] = ("keras-tf",)) -> tuple[Varied, int]:
    """What comes of it, and in how many runs."""
    runs = 0

    def rerun(case: Case, routes: Sequence[str], intermediates: bool = False, other_memory: bool = False) -> Trial:
        nonlocal runs
        runs += 1
        return Routes()(case, routes, intermediates)

    return vary(case, rerun, [ROUTES[name] for name in names], GATE), runs


def test_a_model_whose_output_varies_is_taken_as_it_is() -> None:
    case = chain((2, 6), *LAYERS)
    found, runs = varied(case)
    assert (found.constant, found.scale, found.gain, found.tries, runs) == ((), 1.0, 0.0, 0, 2)
    given, taken = draw_data(case), draw_data(found.case)
    assert np.array_equal(given.inputs["x"], taken.inputs["x"])
    assert np.array_equal(given.weights["n0"]["kernel"], taken.weights["n0"]["kernel"])


def test_of_an_untrained_model_kernels_are_drawn_until_it_does() -> None:
    case = stored(kernel=1e-12)
    assert untrained(case)
    found, _ = varied(case)
    assert found.constant == ()
    assert (found.gain, found.scale, found.tries) == (2.0, 1.0, 2)
    weights = draw_data(found.case).weights
    assert 0.1 < float(np.std(weights["n0"]["kernel"])) < 3.0
    assert np.array_equal(weights["n1"]["gamma"], np.ones(5))  # what has no direction stays
    assert varied(case)[0] == found  # all of it follows from the seed


def test_the_weights_of_a_trained_model_stay_and_scales_are_tried() -> None:
    case = stored(1e-4, 0.5, ("Dense", {"units": 5}), ("Dense", {"units": 3}))
    found, _ = varied(case)
    assert (found.constant, found.gain) == ((), 0.0)
    assert found.scale > 1
    assert found.case.data["n0/kernel"] == case.data["n0/kernel"]


def test_after_eight_tries_the_warning_stands() -> None:
    found, runs = varied(stored(0.0, 0.5))
    assert found.constant == found.case.graph.outputs
    assert (found.tries, found.scale, found.gain, runs) == (TRIES, 1.0, 0.0, 2 + 2 * TRIES)


def test_nan_for_every_input_is_no_variation() -> None:
    assert varied(stored(float("nan"), 0.5))[0].constant


@pytest.mark.parametrize(
    ("case", "fresh"),
    [
        (chain((2, 6), *LAYERS), True),  # drawn
        (stored(0.3), True),
        (stored(0.3, 0.01), False),
        (stored(0.3, 0.0, ("Dense", {"units": 3, "use_bias": False})), False),  # nobody can tell
        (chain((2, 6), ("ReLU", {})), False),  # nothing to draw
    ],
)
def test_untrained(case: Case, fresh: bool) -> None:
    assert untrained(case) == fresh


def test_moving_statistics_tell_too() -> None:
    case = stored(0.3)
    moved = to_tensor(to_array(case.data["n1/moving_mean"]) + np.float32(0.25))
    assert not untrained(Case(case.graph, 7, {**case.data, "n1/moving_mean": moved}))


def test_the_first_route_that_completes_tells() -> None:
    case = chain((2, 6), *LAYERS)
    asked: list[str] = []

    def rerun(case: Case, routes: Sequence[str], intermediates: bool = False, other_memory: bool = False) -> Trial:
        asked.extend(routes)
        if routes == ["keras-torch"]:
            return Routes()(case, routes, intermediates)
        return Trial(case, {name: raised(name, "ValueError", "no") for name in routes})

    names = ("onnxruntime", "keras-torch", "keras-tf")
    found = vary(case, rerun, [ROUTES[name] for name in names], GATE)
    assert (found.constant, set(asked)) == ((), {"keras-tf", "keras-torch"})
    found = vary(case, rerun, [ROUTES["litert"]], GATE)
    assert found.constant is None
