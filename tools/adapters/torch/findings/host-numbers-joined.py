"""Two numbers on the host of different dtypes, with CUDA graphs and graph partition: both become the common dtype."""

import sys

import torch


def function(x, y, s, t):
    return x + s, y * t


arguments = torch.arange(4, device="cuda"), torch.ones(4, device="cuda"), torch.tensor(2**24 + 1), torch.tensor(1.5)
eager = function(*arguments)
compiled = torch.compile(function, mode="reduce-overhead")(*arguments)
print(eager, compiled, sep="\n")
sys.exit(any(a.dtype != b.dtype or not torch.equal(a, b) for a, b in zip(eager, compiled)))
