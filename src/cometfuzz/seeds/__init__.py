"""Seed models: the ten published models as graphs of our IR, and the import of a user's own."""

from cometfuzz.seeds.small import SMALL, alexnet, lenet, lstm_sine_wave, lstm_stock_price

__all__ = ["SMALL", "alexnet", "lenet", "lstm_sine_wave", "lstm_stock_price"]
