"""logsigmoid of numbers far below 0 is -infinity, and PyTorch has the number itself.

aten_log_sigmoid of onnxscript (function_libs/torch_lib/ops/nn.py) makes `Log(Sigmoid(x))`, and a sigmoid of -104 is 0.
ONNX Runtime's own is 0 from -18 on. It has `x - Softplus(x)`, or `-Softplus(-x)`. The exporter's fault.
"""

import sys

import torch
from exported import export, run

x = torch.tensor([-200.0, -110.0, -1.0])
expected = torch.nn.functional.logsigmoid(x)
(said,) = run(export(torch.nn.functional.logsigmoid, x), x)
print("PyTorch", expected.tolist(), "the model", said.tolist())
sys.exit(not torch.allclose(said, expected))
