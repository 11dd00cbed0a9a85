"""A division that is rounded down is off by one, and large integers lose their digits.

1 / 0.1 in float32 is 9 whole times, since 0.1 is a bit more than a tenth; the quotient is rounded to 10 before it
is floored. aten_div_mode and aten_floor_divide of onnxscript (function_libs/torch_lib/ops/core.py) make
Floor(Div(x, y)) of it; integers go through float32 in aten_div_mode. The exporter's fault.
"""

import sys

import torch
from exported import export, run


def divide(x, y, m, n):
    return (torch.div(x, y, rounding_mode="floor"), torch.floor_divide(x, y),
            torch.div(m, n, rounding_mode="floor"))


operands = (torch.tensor([1.0, 3.0]), torch.tensor([0.1, 0.1]), torch.tensor([2**40 + 1]), torch.tensor([1]))
expected = divide(*operands)
said = run(export(divide, *operands), *operands)
print("PyTorch", [t.tolist() for t in expected], "the model", [t.tolist() for t in said])
sys.exit(not all(map(torch.equal, said, expected)))
