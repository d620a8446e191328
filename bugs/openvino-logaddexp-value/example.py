import numpy as np
import openvino
from openvino import opset15 as ops

zero, one = (ops.constant(np.array([value], "float32")) for value in (0, 1))
model = openvino.Model([ops.abs(ops.subtract(zero, one))], [])
print("Actual:  ", openvino.compile_model(model, "CPU")([])[0].tolist())
print("Expected:", [1.0])
