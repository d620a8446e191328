"""Conditions on recurrent layers."""

from typing import Any

from cometfuzz.ir.graph import Params
from cometfuzz.ledger.predicates import predicate


@predicate
def loops(x: Any, p: Params) -> bool:
    """The layer becomes a loop in the graph: it is not unrolled."""
    return not p.get("unroll", False)


@predicate
def leaves_fused_loop_of_torch(x: Any, p: Params) -> bool:
    """LSTM or GRU leave the fused loop of the torch backend, which has products of its own."""
    return bool(x.masked or p.recurrent_dropout or not p.get("reset_after", True))


@predicate
def given_states(x: Any, p: Params) -> bool:
    """The call has initial states."""
    return bool(getattr(x, "states", ()))


@predicate
def stacked_cells(x: Any, p: Params) -> bool:
    """The cell of an RNN is several, one upon the other."""
    return bool(p.cell.layer == "StackedRNNCells")
