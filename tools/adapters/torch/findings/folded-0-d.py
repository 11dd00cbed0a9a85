"""A constant of int8 plus a constant without dimensions: compiled, the sum is one of int64, and does not wrap around."""

import sys

import torch


def function():
    return torch.full((2,), 100, dtype=torch.int8) + torch.full((), 100) > 0


eager, compiled = function().tolist(), torch.compile(function)().tolist()
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
