import numpy as np
import openvino.opset15

array = np.array([[1, 2, 3], [4, 5, 6]], "float16")[:, :2]
constant = openvino.opset15.constant(array)
print("Actual:  ", constant.output(0).get_element_type(), constant.data.tolist())
print("Expected:", "<Type: 'float16'>", array.tolist())
