"""The table of hostile inputs: what a clumsy or a hostile user gives to the command line, by kind of input."""

from hostile import campaigns, cases, collections, configuration, evaluations, keras_files, other_files, outputs
from hostile.rows import Row

MODULES = (cases, keras_files, other_files, configuration, campaigns, collections, evaluations, outputs)
ROWS: tuple[Row, ...] = tuple(row for module in MODULES for row in module.ROWS)
