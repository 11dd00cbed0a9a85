"""logaddexp and logaddexp2 of numbers whose exponential overflows are infinity.

aten_logaddexp of onnxscript (function_libs/torch_lib/ops/core.py) makes `Log(Exp(x) + Exp(y))`, and takes no maximum
out; aten_logaddexp2 does the same. The exporter's fault.
"""

import sys

import torch
from exported import export, run

x, y = torch.tensor([100.0, 1.0]), torch.tensor([100.0, 2.0])
expected = torch.logaddexp(x, y)
(said,) = run(export(torch.logaddexp, x, y), x, y)
print("PyTorch", expected.tolist(), "the model", said.tolist())
sys.exit(not torch.allclose(said, expected))
