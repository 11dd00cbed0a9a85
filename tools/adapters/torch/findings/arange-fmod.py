"""The remainder with the dividend's sign of a range that begins below zero: compiled, it is never negative."""

import sys

import torch


def function(x):
    return torch.fmod(torch.arange(-6, 3), 3) + x


x = torch.zeros(9, dtype=torch.int64)
eager, compiled = function(x), torch.compile(function)(x)
print(eager.tolist(), compiled.tolist(), sep="\n")
sys.exit(not torch.equal(eager, compiled))
