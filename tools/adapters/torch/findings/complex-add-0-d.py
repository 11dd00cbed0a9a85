"""complex64 plus a complex128 number without dimensions: compiled, the sum is complex128."""

import sys

import torch


def function(x, y):
    return x + y


x, y = torch.ones(2, dtype=torch.complex64), torch.ones((), dtype=torch.complex128)
eager, compiled = function(x, y).dtype, torch.compile(function)(x, y).dtype
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
