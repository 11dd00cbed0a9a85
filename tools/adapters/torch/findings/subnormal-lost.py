"""Subnormal numbers, on a GPU: kept in eager mode, taken for zero by ceil, floor and fmod when they are compiled."""

import sys

import torch


def function(x):
    return torch.ceil(x), torch.floor(-x), torch.fmod(x, x)


argument = torch.tensor([1e-40], device="cuda")
eager, compiled = function(argument), torch.compile(function)(argument)
print(eager, compiled, sep="\n")
sys.exit(any(not torch.equal(a, b) for a, b in zip(eager, compiled)))
