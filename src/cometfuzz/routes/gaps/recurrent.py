"""Gaps of recurrent layers and their cells."""

from typing import Any

from cometfuzz.routes.gaps import Gap

LAYERS = ("LSTM", "GRU", "SimpleRNN", "RNN")


def _generic_loop_on_torch(x: Any, p: Any) -> bool:
    """Whether LSTM or GRU leave the fused loop of the torch backend, which has products of its own."""
    return bool(x.masked or p.recurrent_dropout or not p.get("reset_after", True))


_NARROW_PRODUCT = (
    "keras#23704: on torch, ops.matmul of two float64 tensors is float32, so "
    'SimpleRNN(2, dtype="float64")(x) is off by 1e-8 relative'
)
_ZERO_LAST = "documented: zero_output_for_mask is only used with return_sequences; a masked last step gives zeros"

GAPS: tuple[Gap, ...] = (
    Gap(
        routes=("keras-torch",),
        layers=("SimpleRNN", "SimpleRNNCell", "LSTMCell", "GRUCell"),
        when=lambda x, p: x.dtype == "float64",
        symptom="value",
        always=False,
        kind="bug",
        evidence=_NARROW_PRODUCT,
    ),
    Gap(
        routes=("keras-torch",),
        layers=("LSTM", "GRU"),
        when=lambda x, p: x.dtype == "float64" and _generic_loop_on_torch(x, p),
        symptom="value",
        always=False,
        kind="bug",
        evidence=_NARROW_PRODUCT,
    ),
    Gap(
        routes=("keras-tf",),
        layers=("LSTM", "LSTMCell"),
        when=lambda x, p: x.shape[0] == 0 and not p.recurrent_dropout,
        raises="InvalidArgumentError",
        kind="bug",
        evidence="an empty batch: ops.add takes the state's product for a bias, Biases must be 1D: [0,4] [Op:BiasAdd]",
    ),
    Gap(
        routes=("keras-torch",),
        layers=LAYERS,
        when=lambda x, p: x.masked and p.unroll and p.go_backwards,
        raises="AttributeError",
        kind="bug",
        evidence="torch/rnn.py: mask_list = torch.flip(mask_list, dims=mask_list.shape), but mask_list is a tuple",
    ),
    Gap(
        routes=("keras-tf", "keras-torch"),
        layers=("RNN",),
        when=lambda x, p: x.masked and p.zero_output_for_mask and not p.return_sequences,
        symptom="value",
        always=False,
        kind="bug",
        evidence=_ZERO_LAST,
    ),
    Gap(
        routes=("keras-jax",),
        layers=("RNN",),
        when=lambda x, p: x.masked and p.zero_output_for_mask and not p.return_sequences and not p.unroll,
        symptom="value",
        always=False,
        kind="bug",
        evidence=_ZERO_LAST,
    ),
    Gap(
        routes=("keras-tf",),
        layers=("RNN",),
        when=lambda x, p: x.masked and p.zero_output_for_mask and p.return_sequences and p.unroll and p.go_backwards,
        symptom="value",
        always=False,
        kind="bug",
        evidence="unrolled backwards, tensorflow/rnn.py zeroes outputs by the mask in forward order",
    ),
    Gap(
        routes=("keras-jax",),
        layers=("RNN",),
        when=lambda x, p: x.masked and p.zero_output_for_mask and p.return_sequences and p.unroll,
        symptom="value",
        always=False,
        kind="bug",
        evidence="jax/rnn.py ignores zero_output_for_mask when it unrolls",
    ),
)
