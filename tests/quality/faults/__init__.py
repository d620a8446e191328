"""Planted faults: each is one mistake that a library might make, in one layer, in one stage of a route.

They stand by what it takes to find them (`fault.POINTS`), a module for each point or two, and were written without a
look at what is to find them: a fault says what a library does wrong, not how that is seen.
"""

from faults import digits, layers, memory, operators, refusals, relations, special, stages, switches
from faults.fault import ANY, FAULTS, FRONT, KNOWN, POINTS, READER, SETTINGS, Fault, setting

__all__ = ["ANY", "FAULTS", "FRONT", "KNOWN", "POINTS", "READER", "SETTINGS", "Fault", "setting"]

assert [digits, layers, memory, operators, refusals, relations, special, stages, switches], "they plant"
