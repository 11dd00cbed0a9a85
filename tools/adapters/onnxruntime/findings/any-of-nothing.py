"""any of no element is true in the model.

aten_any of onnxscript (function_libs/torch_lib/ops/core.py) takes a maximum, which has no start of its own. The exporter's fault.
"""

import sys

import torch
from exported import export, run

x = torch.empty(0, 4)


def function(x):
    return torch.any(x)


expected = function(x)
(said,) = run(export(function, x), x)
print("PyTorch", expected.tolist(), "the model", said.tolist())
sys.exit(said.shape != expected.shape or not torch.allclose(said.double(), expected.double(), equal_nan=True))
