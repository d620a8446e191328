"""Operators that put tensors together or take one apart; formulas of their blocks say what they do."""
