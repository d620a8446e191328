"""Operators that move the elements of one tensor; formulas of their blocks say what they do."""
