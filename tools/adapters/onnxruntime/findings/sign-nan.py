"""The sign of NaN is 0 in PyTorch, and NaN in the model.

aten_sign of onnxscript (function_libs/torch_lib/ops/core.py) makes ONNX's Sign of it, whose page says nothing of
NaN. onnx's reference and ONNX Runtime both give NaN, as numpy. The exporter says less than the program.
"""

import sys

import torch
from exported import export, run

x = torch.tensor([float("nan"), -2.0])
expected = torch.sign(x)
(said,) = run(export(torch.sign, x), x)
print("PyTorch", expected.tolist(), "the model", said.tolist())
sys.exit(not torch.equal(said, expected))
