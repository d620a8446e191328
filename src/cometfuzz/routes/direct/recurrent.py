"""Recurrent layers by ONNX' own operators, which have sequences first and gates in another order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from cometfuzz.ir.graph import Params
from cometfuzz.routes.direct.writing import Call, Unsaid, exact, writes

KINDS = {"LSTM": "LSTM", "GRU": "GRU", "SimpleRNN": "RNN"}
STATES = {"LSTM": 2, "GRU": 1, "SimpleRNN": 1}
ORDER = {"LSTM": (0, 3, 1, 2), "GRU": (0, 1, 2), "SimpleRNN": (0,)}
"""The gates of Keras in the order of ONNX: input, output, forget, candidate; update, reset, candidate."""

ACTIVATIONS: dict[Optional[str], tuple[str, float, float]] = {
    None: ("Affine", 1.0, 0.0),
    "linear": ("Affine", 1.0, 0.0),
    "relu": ("Relu", 0.0, 0.0),
    "tanh": ("Tanh", 0.0, 0.0),
    "sigmoid": ("Sigmoid", 0.0, 0.0),
    "hard_sigmoid": ("HardSigmoid", 1 / 6, 0.5),
    "leaky_relu": ("LeakyRelu", 0.2, 0.0),
    "elu": ("Elu", 1.0, 0.0),
    "softsign": ("Softsign", 0.0, 0.0),
    "softplus": ("Softplus", 0.0, 0.0),
}
"""Keras' name -> that of ONNX, alpha and beta."""

WITH_BETA = ("Affine", "HardSigmoid")
WITH_ALPHA = (*WITH_BETA, "LeakyRelu", "Elu")
"""Activations that take alpha, or beta; the lists of these have no places for others."""


@dataclass(frozen=True)
class Direction:
    """One pass over a sequence."""

    layer: str
    params: Params
    weights: Sequence[Any]

    @property
    def activations(self) -> list[Optional[str]]:
        p = self.params
        if self.layer == "SimpleRNN":
            return [p.activation]
        return [p.recurrent_activation, *[p.activation] * (2 if self.layer == "LSTM" else 1)]

    def tensors(self) -> tuple[Any, Any, Any]:
        """Kernel, recurrent kernel and biases, gates in the order of ONNX."""
        units, order = self.params.units, ORDER[self.layer]
        kernel, recurrent = (_gates(each.T, units, order) for each in self.weights[:2])
        size = units * len(order)
        biases = np.zeros((2, size), dtype=kernel.dtype)
        if self.params.use_bias:
            given = self.weights[2].reshape(-1, size)
            biases[: len(given)] = given
        return kernel, recurrent, np.concatenate([_gates(row, units, order) for row in biases])


def _gates(rows: Any, units: int, order: Sequence[int]) -> Any:
    return np.concatenate([rows[place * units : (place + 1) * units] for place in order])


def passes(
    c: Call, x: str, directions: Sequence[Direction], how: str, begins: Sequence[Sequence[str]]
) -> tuple[str, list[str]]:
    """The sequence (steps, directions, batch, units), and the last states, of one or both directions over `x`, which
    has its steps first; begins: the states with which each direction begins, where they are given."""
    first = directions[0]
    names = [_known(name) for each in directions for name in each.activations]
    for _, alpha, beta in names:
        if not (exact(alpha, c.dtype) and exact(beta, c.dtype)):
            raise Unsaid("an attribute has too few digits for float64")
    attributes: dict[str, Any] = {"hidden_size": first.params.units, "direction": how}
    usual = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "SimpleRNN": ["Tanh"]}[first.layer]
    if [name for name, _, _ in names] != usual * len(directions):
        attributes["activations"] = [name for name, _, _ in names]
        alphas = [alpha for name, alpha, _ in names if name in WITH_ALPHA]
        betas = [beta for name, _, beta in names if name in WITH_BETA]
        attributes.update({"activation_alpha": alphas} if alphas else {})
        attributes.update({"activation_beta": betas} if betas else {})
    if first.layer == "GRU":
        attributes["linear_before_reset"] = int(first.params.reset_after)
    parts = [each.tensors() for each in directions]
    tensors = [c.weight(np.stack([part[place] for part in parts])) for place in range(3)]
    kind = KINDS[first.layer]
    given = [[c.w.unsqueeze(state, [0]) for state in each] for each in zip(*begins)]
    if given:  # behind the lengths of sequences, which are all alike
        tensors += ["", *(each[0] if len(each) == 1 else c.w.op("Concat", *each, axis=0) for each in given)]
    sequence, *states = c.w.ops(kind, x, *tensors, count=1 + STATES[first.layer], **attributes)
    return sequence, states


def _known(name: Optional[str]) -> tuple[str, float, float]:
    if name not in ACTIVATIONS:
        raise Unsaid(f"a recurrent operator of ONNX has no {name}")
    return ACTIVATIONS[name]


def steps_first(c: Call) -> str:
    return c.w.transpose(c.x[0], [1, 0, 2])


def one_way(c: Call, x: str, direction: Direction, backwards: bool, begins: Sequence[str]) -> tuple[str, list[str]]:
    """The sequence (steps, batch, units) in the order in which Keras makes it, and the last states (batch, units)."""
    w = c.w
    sequence, states = passes(c, x, [direction], "reverse" if backwards else "forward", [begins])
    sequence = w.squeeze(sequence, [1])
    return sequence, [w.squeeze(state, [0]) for state in states]


def results(c: Call, params: Params, sequence: str, last: str, states: list[str], backwards: bool) -> list[str]:
    """What a layer returns of its sequence and its states."""
    w = c.w
    output = last
    if params.return_sequences:
        output = w.transpose(w.flip(sequence, 0) if backwards else sequence, [1, 0, 2])
    return [output, *(states if params.return_state else [])]


@writes("LSTM", "GRU", "SimpleRNN")
def recurrent(c: Call) -> list[str]:
    c.expect_no_mask()
    p = c.params
    sequence, states = one_way(c, steps_first(c), Direction(c.layer, p, c.weights), p.go_backwards, c.x[1:])
    return results(c, p, sequence, states[0], states, p.go_backwards)


@writes("RNN")
def over_cells(c: Call) -> list[str]:
    """Cells on top of each other are layers on top of each other."""
    c.expect_no_mask()
    cell, p = c.params.cell, c.params
    cells = cell.params.cells if cell.layer == "StackedRNNCells" else (cell,)
    x, weights, states = steps_first(c), list(c.weights), []
    last = ""
    for each in cells:
        own = [weights.pop(0) for _ in range(3 if each.params.use_bias else 2)]
        layer = each.layer[: -len("Cell")]
        x, after = one_way(c, x, Direction(layer, each.params, own), p.go_backwards, c.x[1:])
        states += after
        last = after[0]
    return results(c, p, x, last, states, p.go_backwards)


def both_ways(c: Call, forward: Direction, backward: Direction) -> tuple[list[str], list[str]]:
    """What both directions return, step by step in the order of the input: by one operator if they are of one kind."""
    w, x = c.w, steps_first(c)
    half = len(c.x) // 2
    begins = c.x[1 : 1 + half], c.x[1 + half :]
    alike = (
        forward.layer == backward.layer
        and not forward.params.go_backwards
        and forward.params.get("reset_after") == backward.params.get("reset_after")
    )
    found = []
    if alike:
        sequence, states = passes(c, x, [forward, backward], "bidirectional", begins)
        halves = w.split(sequence, [1, 1], 1)
        split = [w.split(state, [1, 1], 0) for state in states]
        for place in (0, 1):
            own = [w.squeeze(each[place], [0]) for each in split]
            found.append((w.squeeze(halves[place], [1]), own))
    else:
        each_way = zip((forward, backward), begins)
        found = [one_way(c, x, each, each.params.go_backwards, given) for each, given in each_way]
    outputs, ends = [], []
    for (sequence, states), each in zip(found, (forward, backward)):
        # a backward pass of Keras is turned round once more by the wrapper, so that it goes with the input
        turned = each.params.go_backwards != (each is backward)
        output, *last = results(c, each.params, sequence, states[0], states, turned)
        outputs.append(output)
        ends.append(last)
    return outputs, [state for last in ends for state in last]
