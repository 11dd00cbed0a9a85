"""A sum of float64 has the digits of float32.

The portable kernel of sum.IntList_out (kernels/portable/cpu/op_sum.cpp) gives what sums in float give.
Its sources are not in the package. That of mean has all digits.
"""

import sys

import torch
from lowered import lowered


class Module(torch.nn.Module):
    def forward(self, x):
        return torch.sum(x, 0), torch.mean(x, 0)


x = torch.tensor([0.1, 0.3, 1.7], dtype=torch.float64)
expected, got = Module()(x), lowered(Module(), (x,))(x)
print(expected, got, sep="\n")
sys.exit(not all(torch.allclose(a, b, rtol=1e-12, atol=0) for a, b in zip(got, expected, strict=True)))
