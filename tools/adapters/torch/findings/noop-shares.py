"""A sum with zeros is a tensor of its own: False in eager mode, True compiled."""

import sys

import torch


def function(x):
    return x + torch.full([4], 0)


x = torch.ones(1, 4, dtype=torch.int64)
eager = function(x) is x
compiled = torch.compile(function)(x) is x
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
