"""A number that is divided twice, with rounding down, the second time by a negative number: compiled, it is divided once."""

import sys

import torch


def of_range(x):
    return (torch.arange(8) // 2) // -2 + x


def of_size(x):
    half = x.shape[0] // 2
    return x + -(half // -2)  # a half of the half, rounded up


x = torch.zeros(8, dtype=torch.int64)
y = torch.zeros(5, dtype=torch.int64)
eager = of_range(x), of_size(y)
compiled = torch.compile(of_range)(x), torch.compile(of_size, dynamic=True)(y)
print([each.tolist() for each in eager], [each.tolist() for each in compiled], sep="\n")
sys.exit(any(not torch.equal(one, other) for one, other in zip(eager, compiled)))
