"""Recurrent layers: a cell applied to one step after the other.

A masked step leaves the states as they are and repeats the output before it (zeros where there is none yet, or at
every masked step where zeros are asked for). A layer that goes backwards returns its outputs in the order in which it
made them. Every gate and every new state is rounded, since a library keeps them in the layer's dtype.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from cometfuzz.ir.graph import Params
from cometfuzz.reference.activation import inner_activation, leave_comparison
from cometfuzz.reference.call import Array, Call, meaning

Step = Callable[[Call, Array, Sequence[Array]], tuple[Array, list[Array]]]
"""One step of a cell: (call, input, states) -> (output, new states)."""


def gate(call: Call, x: Array, activation: str | None) -> Array:
    """A gate: an activation, rounded before and after."""
    return call.rounded(inner_activation(call, call.rounded(x), activation))


def lstm_update(call: Call, gates: Sequence[Array], memory: Array) -> tuple[Array, list[Array]]:
    """Output and states of an LSTM from what flows into its input, forget, candidate and output gates."""
    p = call.params
    enter, forget, leave = (gate(call, gates[index], p.recurrent_activation) for index in (0, 1, 3))
    candidate = gate(call, gates[2], p.activation)
    memory = call.rounded(call.rounded(forget * memory) + call.rounded(enter * candidate))
    output = call.rounded(leave * gate(call, memory, p.activation))
    return output, [output, memory]


def _project(call: Call, x: Array, kernel: Array, bias: Array | None = None) -> Array:
    y = call.contract("ni,ij->nj", x, kernel)
    return y if bias is None else call.rounded(y + bias)


def lstm_step(call: Call, x: Array, states: Sequence[Array]) -> tuple[Array, list[Array]]:
    output, memory = states
    flow = _project(call, x, call.weights["kernel"], call.weights.get("bias"))
    flow = flow + _project(call, output, call.weights["recurrent_kernel"])
    return lstm_update(call, np.split(flow, 4, axis=-1), memory)


def gru_step(call: Call, x: Array, states: Sequence[Array]) -> tuple[Array, list[Array]]:
    p, (state,), bias = call.params, states, call.weights.get("bias")
    into_input, into_state = (bias, None) if bias is None or bias.ndim == 1 else (bias[0], bias[1])
    recurrent = call.weights["recurrent_kernel"]
    x_update, x_reset, x_candidate = np.split(_project(call, x, call.weights["kernel"], into_input), 3, axis=-1)
    if p.reset_after:
        flow = _project(call, state, recurrent, into_state)
    else:
        flow = _project(call, state, recurrent[:, : 2 * p.units])
    update = gate(call, x_update + flow[:, : p.units], p.recurrent_activation)
    reset = gate(call, x_reset + flow[:, p.units : 2 * p.units], p.recurrent_activation)
    if p.reset_after:
        remembered = call.rounded(reset * flow[:, 2 * p.units :])
    else:
        remembered = _project(call, call.rounded(reset * state), recurrent[:, 2 * p.units :])
    candidate = gate(call, x_candidate + remembered, p.activation)
    state = call.rounded(call.rounded(update * state) + call.rounded((1.0 - update) * candidate))
    return state, [state]


def simple_step(call: Call, x: Array, states: Sequence[Array]) -> tuple[Array, list[Array]]:
    flow = _project(call, x, call.weights["kernel"], call.weights.get("bias"))
    state = gate(call, flow + _project(call, states[0], call.weights["recurrent_kernel"]), call.params.activation)
    return state, [state]


def stacked_step(call: Call, x: Array, states: Sequence[Array]) -> tuple[Array, list[Array]]:
    made: list[Array] = []
    for place, cell in enumerate(call.params.cells):
        prefix = f"cell{place}_"
        weights = {name.removeprefix(prefix): w for name, w in call.weights.items() if name.startswith(prefix)}
        count = len(initial_states(cell.layer, cell.params, 0))
        own = states[len(made) : len(made) + count]
        x, after = STEPS[cell.layer](call.inner(cell.layer, cell.params, weights=weights), x, own)
        made += after
    return x, made


STEPS: Mapping[str, Step] = {
    "LSTMCell": lstm_step,
    "GRUCell": gru_step,
    "SimpleRNNCell": simple_step,
    "StackedRNNCells": stacked_step,
}


def initial_states(cell: str, params: Params, batch: int) -> list[Array]:
    """Zeros for every state of a cell."""
    if cell == "StackedRNNCells":
        return [zero for inner in params.cells for zero in initial_states(inner.layer, inner.params, batch)]
    return [np.zeros((batch, params.units))] * (2 if cell == "LSTMCell" else 1)


def first_states(call: Call, zeros: Sequence[Array]) -> Sequence[Array]:
    """The states that a layer begins with: those that it is given, else zeros."""
    return call.inputs[1:] or zeros


def loop(call: Call, step: Step, cell: Call, states: Sequence[Array], zero_masked: bool) -> list[Array]:
    """The outputs of a layer that applies `step` of `cell` along axis 1 of the layer's input."""
    p, outputs = call.params, []
    leave_comparison(call, cell.params.get("activation"))  # not for `recurrent_activation`, nor for stacked cells
    previous: Array | float = 0.0
    places = range(call.x.shape[1])
    for place in reversed(places) if p.go_backwards else places:
        output, after = step(cell, call.x[:, place], states)
        if call.mask is not None:
            seen = call.mask[:, place].reshape(-1, *[1] * (output.ndim - 1))
            output = np.where(seen, output, 0.0 if zero_masked else previous)
            after = [np.where(seen, new, old) for new, old in zip(after, states, strict=True)]
        previous, states = output, after
        outputs.append(output)
    result = np.stack(outputs, axis=1) if p.return_sequences else outputs[-1]
    return [result, *states] if p.return_state else [result]


def recur(call: Call, zero_masked: bool = False) -> list[Array]:
    """The outputs of a recurrent layer; `zero_masked` makes the outputs of masked steps zero."""
    if call.layer == "RNN":
        inner = call.params.cell
        cell = call.inner(inner.layer, inner.params)
    else:
        cell = call.inner(f"{call.layer}Cell", call.params)
    states = first_states(call, initial_states(cell.layer, cell.params, call.x.shape[0]))
    return loop(call, STEPS[cell.layer], cell, states, zero_masked)


@meaning("LSTM", "GRU", "SimpleRNN")
def recurrent(call: Call) -> list[Array]:
    return recur(call)


@meaning("RNN")
def recurrent_over_cell(call: Call) -> list[Array]:
    # documented: zero_output_for_mask is only used when sequences are returned
    return recur(call, zero_masked=call.params.zero_output_for_mask and call.params.return_sequences)
