"""A sum of bytes that is a byte, on a GPU: it does not wrap around before it is used in the same kernel."""

import sys

import torch


def function(x):
    return x.sum(-1, dtype=torch.uint8).to(torch.int64), x.sum(-1, dtype=torch.uint8) // 3


argument = torch.ones(4, 5000, dtype=torch.uint8, device="cuda")
eager, compiled = function(argument), torch.compile(function)(argument)
print([x.tolist() for x in eager], [x.tolist() for x in compiled])
sys.exit(any(not torch.equal(a, b) for a, b in zip(eager, compiled)))
