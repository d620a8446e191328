"""The public classes of keras.layers that the catalogue has no block for, each with the reason.

A conformance test compares blocks and this table with keras.layers itself, so that a new release shows what is missing.
"""

_BASE = "a base class: it computes nothing by itself"
_STRINGS = "tensors of strings are not in the space"
_FOREIGN = "what it computes is a program of another library, not data"

LEFT_OUT = {
    "ContrastLimitedAdaptiveHistogramEqualization": "its documentation does not say how it clips and interpolates",
    "Equalization": "Keras 3.15 builds no functional model with it: its symbolic output is its input itself",
    "FlaxLayer": _FOREIGN,
    "HashedCrossing": "its documentation does not say which hash it takes of several features",
    "InputLayer": "the inputs of a graph are nodes of their own",
    "InputSpec": "what a layer expects of its input, no layer",
    "JaxLayer": _FOREIGN,
    "Lambda": "what it computes is Python code, not data",
    "Layer": _BASE,
    "StringLookup": _STRINGS,
    "TFSMLayer": _FOREIGN,
    "TextVectorization": _STRINGS,
    "TorchModuleWrapper": _FOREIGN,
    "Wrapper": _BASE,
}
