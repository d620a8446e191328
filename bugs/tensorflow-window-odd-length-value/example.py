import tensorflow as tf
import torch

print("Actual:  ", tf.signal.hann_window(3, periodic=True).numpy().tolist())
print("Expected:", torch.hann_window(3, periodic=True).tolist())
