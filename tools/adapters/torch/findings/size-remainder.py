"""The remainder of a negative size by a negative number is the size itself when sizes are symbols."""

import sys

import torch


def function(x):
    return x + (-x.shape[0] - 5) % -3


x = torch.zeros(4, dtype=torch.int64)
eager, compiled = function(x), torch.compile(function, dynamic=True)(x)
print(eager.tolist(), compiled.tolist(), sep="\n")
sys.exit(not torch.equal(eager, compiled))
