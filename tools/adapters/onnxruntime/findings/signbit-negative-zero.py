"""signbit of -0 is false in the model.

aten_signbit of onnxscript (function_libs/torch_lib/ops/core.py) asks whether x < 0, and says in a comment that
ONNX has no op for -0. It has 1 / x < 0. The exporter's fault.
"""

import sys

import torch
from exported import export, run

x = torch.tensor([-0.0, 0.0, -1.0])
expected = torch.signbit(x)
(said,) = run(export(torch.signbit, x), x)
print("PyTorch", expected.tolist(), "the model", said.tolist())
sys.exit(not torch.equal(said, expected))
