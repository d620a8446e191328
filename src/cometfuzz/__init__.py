"""cometfuzz generates neural-network models to test deep-learning libraries."""

__version__ = "0.1.0"
