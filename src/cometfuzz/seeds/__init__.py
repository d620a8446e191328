"""Seed models: the published models that a campaign starts from, as graphs of our IR.

Here are the four small ones of the paper's table "Statistics of Original Models". The six big ones (DenseNet121,
InceptionResNetV2, InceptionV3, MobileNetV2, ResNet50, Xception) come with synthesis, which is what makes them small
enough to be mutated.
"""

from cometfuzz.seeds.small import SMALL, alexnet, lenet, lstm_sine_wave, lstm_stock_price

__all__ = ["SMALL", "alexnet", "lenet", "lstm_sine_wave", "lstm_stock_price"]
