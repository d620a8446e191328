"""Recurrent layers over sequences (batch, steps, features): LSTM, GRU, SimpleRNN, and RNN over their cells."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cometfuzz.catalogue.spaces import (
    BOOLEAN_FALSE,
    BOOLEAN_TRUE,
    Choice,
    Floats,
    InnerLayer,
    Seldom,
    Sizes,
    Space,
    activations,
    build_params,
    regulariser,
)
from cometfuzz.catalogue.spec import KERAS3, InnerCall, Ours, Shape, layer, spec_of
from cometfuzz.draw import Draw
from cometfuzz.ir.graph import Inner, Params
from cometfuzz.ir.types import TensorType

STATES = {"LSTM": 2, "GRU": 1, "SimpleRNN": 1}
"""How many state tensors a layer carries from step to step: an LSTM has its output and its memory."""

GATES = {"LSTM": 4, "GRU": 3, "SimpleRNN": 1}

SEED = {"seed": "training only: the seed of the dropouts"}
CUDNN = {"use_cudnn": "picks an implementation on GPUs; the default falls back by itself"}


LOOP: dict[str, Space] = {
    "return_sequences": BOOLEAN_FALSE,
    "return_state": BOOLEAN_FALSE,
    "go_backwards": BOOLEAN_FALSE,
    "stateful": Seldom(False, True, seldom=True, chance=0.2),
}
"""What every layer that loops over steps has; ConvLSTM has no `unroll`.

A fresh model starts from zeros whether its layers are stateful or not, so that is seldom drawn.
"""

HAS_STEPS = {"sequence has steps": Ours(lambda x, p: x.shape[1] >= 1)}


def gate_activation(simplest: str) -> Choice:
    """The activation of a recurrent layer: null is allowed and means linear."""
    return Choice(*activations().values, None, simplest=simplest)


def dropouts() -> dict[str, Space]:
    """Dropout of the input and of the state, in training."""
    return {name: Floats(0, 0.9, 0, step=0.1, effect="train") for name in ("dropout", "recurrent_dropout")}


def step_type(x: TensorType) -> TensorType:
    """What a cell sees of a sequence: one step."""
    return TensorType(x.dtype, (x.shape[0], *x.shape[2:]))


def looped(x: TensorType, p: Any, step_shapes: Sequence[Shape]) -> Shape | list[Shape]:
    """The output shapes of a loop over a cell, given the cell's: its output and then its states."""
    output, states = step_shapes[0], step_shapes[1:]
    if p.return_sequences:
        output = (output[0], x.shape[1], *output[1:])
    return [output, *states] if p.return_state else output


def sequence_masked(x: TensorType, p: Any) -> bool:
    """Only a sequence carries the mask on; the last output and the states have none."""
    return bool(x.masked and p.return_sequences)


def _cell_params(kind: str) -> dict[str, Space]:
    gates: dict[str, Space] = {"activation": gate_activation("tanh")}
    if kind != "SimpleRNN":
        gates["recurrent_activation"] = gate_activation("sigmoid")
    own: dict[str, dict[str, Space]] = {
        "LSTM": {"unit_forget_bias": Choice(True, False, effect="build")},
        "GRU": {"reset_after": BOOLEAN_TRUE},
        "SimpleRNN": {},
    }
    return {
        "units": Sizes(1, 8),
        **gates,
        "use_bias": BOOLEAN_TRUE,
        **own[kind],
        **build_params("kernel", "recurrent", "bias", activity=False),
        **dropouts(),
    }


def _cell_weights(gates: int) -> Callable[[Any, Any], Mapping[str, Shape]]:
    def weights(x: TensorType, p: Any) -> Mapping[str, Shape]:
        width = gates * p.units
        shapes: dict[str, Shape] = {"kernel": (x.shape[-1], width), "recurrent_kernel": (p.units, width)}
        if p.use_bias:  # a GRU that resets after the product has a bias for the input and one for the state
            shapes["bias"] = (2, width) if p.get("reset_after") else (width,)
        return shapes

    return weights


def _cell_shape(states: int) -> Callable[[Any, Any], list[Shape]]:
    return lambda x, p: [(x.shape[0], p.units)] * (1 + states)


def _layer_states(states: int) -> Callable[[Any, Any], list[Shape]]:
    return lambda x, p: [(x.shape[0], p.units)] * states


def _layer_shape(states: int) -> Callable[[Any, Any], Shape | list[Shape]]:
    return lambda x, p: looped(x, p, [(x.shape[0], p.units)] * (1 + states))


_MEANINGS = {
    "LSTM": "a memory c = f c + i g and an output h = o act(c), by input, forget, candidate and output gates",
    "GRU": "a state h = z h + (1 - z) candidate, by update and reset gates",
    "SimpleRNN": "a state h = act(x . kernel + bias + h . recurrent_kernel)",
}

for _kind, _doc in _MEANINGS.items():
    layer(
        f"{_kind}Cell",
        kind="cell",
        libraries=(KERAS3,),
        ranks=[2],
        params=_cell_params(_kind),
        shape=_cell_shape(STATES[_kind]),
        weights=_cell_weights(GATES[_kind]),
        excluded=SEED,
        doc=f"One step of {_kind}: {_doc}.",
    )
    layer(
        _kind,
        ranks=[3],
        output_ranks=[2, 3],
        params={
            **_cell_params(_kind),
            "activity_regularizer": regulariser(),
            **LOOP,
            "unroll": BOOLEAN_FALSE,
        },
        rules=HAS_STEPS,
        shape=_layer_shape(STATES[_kind]),
        weights=_cell_weights(GATES[_kind]),
        mask=sequence_masked,
        states=_layer_states(STATES[_kind]),
        excluded=SEED if _kind == "SimpleRNN" else {**SEED, **CUDNN},
        doc=f"At each step {_doc}.",
    )


CELLS = ("LSTMCell", "GRUCell", "SimpleRNNCell")


def _draw_cell(draw: Draw, x: TensorType, names: Sequence[str]) -> Inner:
    name = draw.choice(names)
    return Inner(name, spec_of(name).draw_params(draw, [x]) or spec_of(name).complete({}))


class _CellStack(Space):
    """Cells on top of each other, each fed with the output of the one before."""

    simplest = (Inner("SimpleRNNCell", Params()),) * 2

    def problem(self, value: Any) -> str | None:
        fits = isinstance(value, tuple) and all(isinstance(cell, Inner) and cell.layer in CELLS for cell in value)
        return None if fits and value else self.describe()

    def draw(self, draw: Draw, x: TensorType, p: Params) -> tuple[Inner, ...]:
        cells: list[Inner] = []
        for _ in range(draw.integer(2, 3)):
            cells.append(_draw_cell(draw, x, CELLS))
            x = TensorType(x.dtype, (x.shape[0], cells[-1].params.units))
        return tuple(cells)

    def describe(self) -> str:
        return "a list of cells, each one of " + ", ".join(CELLS)


def _stacked(x: TensorType, p: Any) -> list[InnerCall]:
    calls: list[InnerCall] = []
    for cell in p.cells:
        calls.append((cell, (x,)))
        x = TensorType(x.dtype, (x.shape[0], cell.params.units))
    return calls


def _stack_shape(x: TensorType, p: Any) -> list[Shape]:
    shapes = [_shapes_inside(cell, types[0]) for cell, types in _stacked(x, p)]
    return [shapes[-1][0], *(state for each in shapes for state in each[1:])]


def _shapes_inside(cell: Inner, x: TensorType) -> list[Shape]:
    shapes = spec_of(cell.layer).shape(x, cell.params)
    return shapes if isinstance(shapes, list) else [shapes]


layer(
    "StackedRNNCells",
    kind="cell",
    libraries=(KERAS3,),
    ranks=[2],
    params={"cells": _CellStack()},
    inner=_stacked,
    shape=_stack_shape,
    weights=lambda x, p: {
        f"cell{place}_{name}": shape
        for place, (cell, types) in enumerate(_stacked(x, p))
        for name, shape in spec_of(cell.layer).weights(types[0], cell.params).items()
    },
    doc="Cells on top of each other as one cell; its states are those of all of them.",
)


def _states_of_one_cell(x: TensorType, p: Any) -> list[Shape]:
    """Those of several cells are lists in a list, which a call does not say here."""
    return [] if p.cell.layer == "StackedRNNCells" else _shapes_inside(p.cell, step_type(x))[1:]


layer(
    "RNN",
    libraries=(KERAS3,),
    ranks=[3],
    output_ranks=[2, 3],
    params={
        "cell": InnerLayer(
            *CELLS,
            "StackedRNNCells",
            draw=lambda draw, x, p: _draw_cell(draw, step_type(x), (*CELLS, "StackedRNNCells")),
            simplest=Inner("SimpleRNNCell", Params()),
        ),
        **LOOP,
        "unroll": BOOLEAN_FALSE,
        "zero_output_for_mask": BOOLEAN_FALSE,
    },
    inner=lambda x, p: [(p.cell, (step_type(x),))],
    rules=HAS_STEPS,
    shape=lambda x, p: looped(x, p, _shapes_inside(p.cell, step_type(x))),
    weights=lambda x, p: spec_of(p.cell.layer).weights(step_type(x), p.cell.params),
    mask=sequence_masked,
    states=_states_of_one_cell,
    doc="A cell applied to one step after the other, each time with the states it made before.",
)
