"""baddbmm and addmv with beta 0 have NaN where their first operand has it. PyTorch leaves that operand out.

aten_baddbmm and aten_addmv of onnxscript (function_libs/torch_lib/ops/core.py) multiply it by 0; aten_addr asks whether
beta is 0. PyTorch's page of baddbmm: "If beta is 0, then the content of input will be ignored, and nan and inf in it
will not be propagated." The exporter's fault.
"""

import sys

import torch
from exported import export, run


def batches(x, a, b):
    return torch.baddbmm(x, a, b, beta=0)


def vector(x, a, b):
    return torch.addmv(x, a, b, beta=0)


nothing = float("nan")
is_right = True
for function, tensors in (
    (batches, (torch.full((1, 2, 2), nothing), torch.ones(1, 2, 3), torch.ones(1, 3, 2))),
    (vector, (torch.full((2,), nothing), torch.ones(2, 3), torch.ones(3))),
):
    expected = function(*tensors)
    (said,) = run(export(function, *tensors), *tensors)
    print(function.__name__, "PyTorch", expected.tolist(), "the model", said.tolist())
    is_right &= torch.allclose(said, expected)
sys.exit(not is_right)
