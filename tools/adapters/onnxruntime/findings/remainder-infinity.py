"""The remainder of a division by infinity is NaN in the model.

PyTorch's is the number itself, or infinity where the signs differ. aten_remainder of onnxscript
(function_libs/torch_lib/ops/core.py) makes x - y * Floor(x / y), and 0 * infinity is NaN. The exporter's fault.
"""

import sys

import torch
from exported import export, run

x = torch.tensor([2.0, -2.0])
y = torch.tensor([float("inf"), float("inf")])
expected = torch.remainder(x, y)
(said,) = run(export(torch.remainder, x, y), x, y)
print("PyTorch", expected.tolist(), "the model", said.tolist())
sys.exit(not torch.equal(said, expected))
