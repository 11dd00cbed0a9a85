"""The norm over all dimensions that keeps its dimensions has none.

aten_linalg_vector_norm of onnxscript (function_libs/torch_lib/ops/linalg.py) flattens its operand where no dimension is
given, and sets `keepdim = False`. The exporter's fault.
"""

import sys

import torch
from exported import export, run


def function(x):
    return torch.linalg.vector_norm(x, keepdim=True)


x = torch.ones(2, 3)
expected = function(x)
(said,) = run(export(function, x), x)
print("PyTorch", expected.shape, "the model", said.shape)
sys.exit(expected.shape != said.shape)
