import onnx.parser
import torch
for name in ("nms", "qnms"):  # only beside a CPU build of torch, where torchvision lacks them
    torch.library.define(f"torchvision::{name}", "(Tensor a, Tensor b, float c) -> Tensor")
import onnx2torch

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 15]>
graph (float[1, 1, 2] x) => (float[1, 2] y) <int64[1] axes = {1}> {
    h = Split(x)
    y = Squeeze(h, axes)
}""")
onnx.checker.check_model(model, full_check=True)
print("Expected:", (1, 2))
print("Actual:  ", onnx2torch.convert(model)(torch.ones(1, 1, 2)).shape)
