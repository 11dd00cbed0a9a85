"""logcumsumexp is -infinity before a number that is larger by 100, and NaN where one is infinite.

aten_logcumsumexp of onnxscript (function_libs/torch_lib/ops/core.py) takes the maximum of the whole line from each
number, and not the maximum so far. So what stands before it underflows. The exporter's fault.
"""

import sys

import torch
from exported import export, run

x = torch.tensor([100.0, -100.0, 300.0])


def function(x):
    return torch.logcumsumexp(x, 0)


expected = function(x)
(said,) = run(export(function, x), x)
print("PyTorch", expected.tolist(), "the model", said.tolist())
sys.exit(said.shape != expected.shape or not torch.allclose(said.double(), expected.double(), equal_nan=True))
