import torch
from torch.nn.functional import interpolate

x = torch.arange(3.0).reshape(1, 1, 3, 1)
y = interpolate(x, (6, 1), mode="bilinear", antialias=True)
baseline = interpolate(x.double(), (6, 1), mode="bilinear", antialias=False)  # float64
print("Actual:  ", y.flatten().tolist())
print("Expected:", baseline.flatten().tolist(), "as in float64 with antialias=False: nothing is to be smoothed")
torch.testing.assert_close(y, baseline.float())  # default tolerances
