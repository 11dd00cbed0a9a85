"""A number scattered into a constant: both become float32 on their way when it is compiled."""

import sys

import torch


def function(i):
    numbers = torch.full((2, 3), 0.1, dtype=torch.float64).scatter(1, i, 0.3)
    return numbers, torch.full((2, 3), 16777217).scatter(1, i, 1.0)


i = torch.tensor([[1], [2]])
eager, compiled = function(i), torch.compile(function)(i)
print([each.tolist() for each in eager], [each.tolist() for each in compiled], sep="\n")
sys.exit(not all(map(torch.equal, eager, compiled)))
