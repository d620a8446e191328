"""The reference: every catalogue layer in NumPy, in float64, in inference mode, from its documented meaning.

It is nobody's library. File names are those of the catalogue's families.
"""

from importlib import import_module

from cometfuzz.catalogue import CATALOGUE, FAMILIES
from cometfuzz.reference.call import take_formula

for _family in FAMILIES:
    import_module(f"cometfuzz.reference.{_family}")
for _spec in CATALOGUE.values():
    take_formula(_spec)
