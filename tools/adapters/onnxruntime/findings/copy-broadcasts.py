"""copy_ of a row into a matrix returns the row: the model's result has the source's shape.

aten_copy of onnxscript (function_libs/torch_lib/ops/core.py) is `CastLike(src, self)`, which broadcasts
nothing. The exporter's fault.
"""

import sys

import torch
from exported import export, run

x = torch.zeros(2, 3)
row = torch.tensor([1.0, 2.0, 3.0])


def function(x, row):
    return x.clone().copy_(row)


expected = function(x, row)
(said,) = run(export(function, x, row), x, row)
print("PyTorch", expected.tolist(), "the model", said.tolist())
sys.exit(said.shape != expected.shape or not torch.equal(said, expected))
