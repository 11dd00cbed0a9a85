"""The next number of 16 bits, on a GPU: found in float32, and rounded back to where it began."""

import sys

import torch


def function(x, y):
    return torch.nextafter(x, y)


seen = False
for dtype in torch.float16, torch.bfloat16:
    arguments = torch.tensor([1.0, 2.0], dtype=dtype, device="cuda"), torch.tensor([2.0, 0.0], dtype=dtype, device="cuda")
    eager, compiled = function(*arguments), torch.compile(function)(*arguments)
    print(eager.tolist(), compiled.tolist())
    seen |= not torch.equal(eager, compiled)
sys.exit(seen)
