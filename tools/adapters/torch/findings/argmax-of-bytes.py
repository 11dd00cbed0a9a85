"""The place of the largest of many bytes, on a GPU: beyond 127 it wraps around, as an int8 does."""

import sys

import torch


def function(x):
    return x.argmax(-1), x.max(-1)[1]


argument = torch.zeros(2, 5000, dtype=torch.int8, device="cuda")
argument[0, 300] = argument[1, 4000] = 1
eager, compiled = function(argument), torch.compile(function)(argument)
print(eager[0].tolist(), [x.tolist() for x in compiled])
sys.exit(any(not torch.equal(a, b) for a, b in zip(eager, compiled)))
