"""The running sum of a constant of bytes: compiled, it is that of the number, and not of what a byte makes of it."""

import sys

import torch


def function():
    return torch.full((4,), -1, dtype=torch.uint8).cumsum(0)


eager, compiled = function().tolist(), torch.compile(function)().tolist()
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
