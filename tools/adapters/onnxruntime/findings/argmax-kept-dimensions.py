"""argmax over all that keeps its dimensions returns one dimension instead of two.

aten_argmax of onnxscript (function_libs/torch_lib/ops/core.py) flattens the operand first. The exporter's fault.
"""

import sys

import torch
from exported import export, run

x = torch.tensor([[1.0, 2.0], [4.0, 3.0]])


def function(x):
    return torch.argmax(x, None, True)


expected = function(x)
(said,) = run(export(function, x), x)
print("PyTorch", expected.tolist(), "the model", said.tolist())
sys.exit(said.shape != expected.shape or not torch.allclose(said.double(), expected.double(), equal_nan=True))
