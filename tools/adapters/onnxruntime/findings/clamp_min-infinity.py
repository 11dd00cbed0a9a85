"""clamp_min of infinity gives the largest float.

aten_clamp_min of onnxscript (function_libs/torch_lib/ops/core.py) makes a Clip without a maximum, which by ONNX's
page is then the largest number of the type. ONNX Runtime does as that page says. aten_clamp_max is alike.
The exporter's fault.
"""

import sys

import torch
from exported import export, run

x = torch.tensor([float("inf"), -float("inf"), 1.0])


def clamp(x):
    return torch.ops.aten.clamp_min(x, -1.0), torch.ops.aten.clamp_max(x, 2.0)


expected = clamp(x)
said = run(export(clamp, x), x)
print("PyTorch", [t.tolist() for t in expected], "the model", [t.tolist() for t in said])
sys.exit(not all(map(torch.equal, said, expected)))
