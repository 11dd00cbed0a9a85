"""An expanded batch times weights of int8: compiled, the result has the size from before it was expanded."""

import sys

import torch


def function(x, weight, scales):
    columns = weight.to(x.dtype).t().expand(3, 64, 32)
    return torch.bmm(x.expand(3, 4, 64), columns) * scales


torch.manual_seed(0)
x = torch.randn(1, 4, 64).bfloat16()
weight = torch.randint(-128, 127, (32, 64), dtype=torch.int8)
scales = torch.rand(32).bfloat16()
with torch.no_grad():
    eager, compiled = function(x, weight, scales), torch.compile(function)(x, weight, scales)
print(eager.shape, compiled.shape)
sys.exit(eager.shape != compiled.shape)
