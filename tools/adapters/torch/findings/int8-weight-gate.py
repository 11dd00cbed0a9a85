"""A product with weights of int8, times a gate: does not run compiled. The gate is taken for scales of the columns."""

import sys

import torch


def function(x, weight, gate):
    return torch.nn.functional.linear(x, weight.to(x.dtype)) * gate


torch.manual_seed(0)
x = torch.randn(2, 4, 64).bfloat16()
weight = torch.randint(-128, 127, (32, 64), dtype=torch.int8)
gate = torch.rand(2, 4, 32).bfloat16()
with torch.no_grad():
    print(function(x, weight, gate).shape)
    try:
        print(torch.compile(function)(x, weight, gate).shape)
    except RuntimeError as error:
        print(str(error).strip().splitlines()[0])
        sys.exit(1)
