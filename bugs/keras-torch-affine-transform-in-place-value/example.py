import os

os.environ["KERAS_BACKEND"] = "torch"
import keras
import numpy as np
import torch

image = np.ones((1, 2, 1), "float32")
transform = torch.tensor([1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0])
keras.ops.image.affine_transform(image, transform)
print("Actual:  ", transform.tolist())
print("Expected:", [1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0])
