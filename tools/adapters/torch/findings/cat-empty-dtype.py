"""cat of three parts, one of them empty and of a wider type: float64 in eager mode, float32 compiled."""

import sys

import torch


def function(x, y):
    return torch.cat([torch.empty(0, dtype=torch.float64), x, y])


arguments = torch.ones(2), torch.ones(3)
eager, compiled = function(*arguments).dtype, torch.compile(function)(*arguments).dtype
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
