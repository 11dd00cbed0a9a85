"""A branch on the bits of two negative sizes: what is less than zero is said to be not, and the wrong arm is compiled."""

import sys

import torch


def function(x, y):
    aligned = (x.shape[0] - y.shape[0]) & -8
    return x - 1 if aligned < 0 else x + 1


x, y = torch.zeros(5), torch.zeros(9)
eager, compiled = function(x, y), torch.compile(function, dynamic=True)(x, y)
print(eager.tolist(), compiled.tolist(), sep="\n")
sys.exit(not torch.equal(eager, compiled))
