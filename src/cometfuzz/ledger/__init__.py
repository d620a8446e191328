"""The ledger: what is known to be wrong or limited in each library, as data, with versions and evidence.

`defect.py` has the words, `reading.py` the folder of entries, `matching.py` the one question that everybody asks: which
defects explain this call on this route? `predicates/` has the conditions that entries may name.
"""
