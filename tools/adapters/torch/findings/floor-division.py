"""A number divided and rounded down: 1.0 // 0.1 is 9 in eager mode and in Python, and 10 compiled."""

import sys

import torch


def function(x, y):
    return torch.floor_divide(x, y)


arguments = torch.tensor([1.0, 0.5, 6.0]), torch.tensor([0.1, 0.1, 0.2])
eager, compiled = function(*arguments), torch.compile(function)(*arguments)
print(eager.tolist(), compiled.tolist(), sep="\n")
sys.exit(not torch.equal(eager, compiled))
