"""`_foreach_lerp` with a number for each tensor: compiled, a weight of 1 does not lead to the end."""

import sys

import torch


def function(start, end):
    return torch._foreach_lerp([start], [end], [1.0])[0]


start, end = torch.tensor([1e8]), torch.tensor([1.0])
eager, compiled = function(start, end).item(), torch.compile(function)(start, end).item()
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
