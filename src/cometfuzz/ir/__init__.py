"""The graph language: types, graphs, cases and their canonical JSON. Knows no layer by name."""
