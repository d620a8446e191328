import onnx.parser
import torch
for name in ("nms", "qnms"):  # only beside a CPU build of torch, where torchvision lacks them
    torch.library.define(f"torchvision::{name}", "(Tensor a, Tensor b, float c) -> Tensor")
import onnx2torch

model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 15]>
graph (float[1] x) => (float[1] y) <float[1] y = {1}> {}""")
onnx.checker.check_model(model, full_check=True)
print("Expected: a module that returns 1", flush=True)
print("Actual:  ", onnx2torch.convert(model))
