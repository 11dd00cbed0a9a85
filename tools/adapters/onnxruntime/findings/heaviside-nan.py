"""heaviside of NaN is 1 in the model, and 0 in PyTorch.

aten_heaviside of onnxscript (function_libs/torch_lib/ops/core.py) asks whether x < 0, where PyTorch asks whether x > 0.
The exporter's fault.
"""

import sys

import torch
from exported import export, run

x, values = torch.tensor([float("nan"), -1.0, 0.0, 1.0]), torch.full((4,), 0.5)
expected = torch.heaviside(x, values)
(said,) = run(export(torch.heaviside, x, values), x, values)
print("PyTorch", expected.tolist(), "the model", said.tolist())
sys.exit(not torch.equal(said, expected))
