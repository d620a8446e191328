"""ONNX written by ourselves: the graph as an ONNX file, without a builder or a converter, and the routes that read it.

One function for each layer or operator says it in a few ONNX operators, in files that are named as in the catalogue.
What ONNX cannot say is in `unsaid.py`, with the reason; the parent asks `asking.py` before a route gets a case. If all
readers of such a file agree, and not with the reference, the mistake is ours: the stage blames cometfuzz.
"""
