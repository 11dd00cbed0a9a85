"""scatter into a tensor without dimensions does not run: the model's ScatterElements has no axis to go along.

aten_scatter_value of onnxscript (function_libs/torch_lib/ops/core.py) gives index and value a dimension, and not the
tensor; ONNX's op wants a rank of 1. The exporter's fault.
"""

import sys

import torch
from exported import export, run

x = torch.tensor(1.0)
index = torch.tensor(0)


def function(x, index):
    return torch.scatter(x, 0, index, 3.0)


expected = function(x, index)
try:
    (said,) = run(export(function, x, index), x, index)
except Exception as error:  # of ONNX Runtime
    print("PyTorch", expected.tolist(), "the model", f"{type(error).__name__}: {error}"[:200])
    sys.exit(1)
print("PyTorch", expected.tolist(), "the model", said.tolist())
sys.exit(not torch.equal(said, expected))
