"""scatter_reduce with "mean" overwrites: of several values that go to one place, the last is there.

aten_scatter_reduce of onnxscript (function_libs/torch_lib/ops/core.py) has "none" in its table for "mean", since ONNX's
ScatterElements has no mean, and raises nothing. The exporter's fault.
"""

import sys

import torch
from exported import export, run

x, source, places = torch.tensor([10.0, 20.0]), torch.tensor([1.0, 3.0, 5.0]), torch.tensor([0, 0, 0])


def function(x, source, places):
    return torch.scatter_reduce(x, 0, places, source, "mean")


expected = function(x, source, places)
(said,) = run(export(function, x, source, places), x, source, places)
print("PyTorch", expected.tolist(), "the model", said.tolist())
sys.exit(not torch.allclose(said, expected))
