"""The angle of (-1, 0) comes out as -pi, that of (0, -0) as 0, and that of a NaN as 0.

_atan2 of onnxscript (function_libs/torch_lib/ops/core.py) adds pi where y > 0, which leaves out y = 0, and then
puts 0 where the result is NaN, "to match PyTorch". PyTorch's is NaN where an operand is. The exporter's fault.
"""

import sys

import torch
from exported import export, run

y = torch.tensor([0.0, 0.0, -0.0, float("nan"), 1.0])
x = torch.tensor([-1.0, -0.0, -0.0, 1.0, float("nan")])
expected = torch.atan2(y, x)
(said,) = run(export(torch.atan2, y, x), y, x)
print("PyTorch", expected.tolist(), "the model", said.tolist())
sys.exit(not torch.allclose(said, expected, equal_nan=True))
