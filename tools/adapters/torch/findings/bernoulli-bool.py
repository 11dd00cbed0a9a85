"""bernoulli with a number, on a GPU: float32 in eager mode, bool compiled."""

import sys

import torch


def function(x):
    return torch.bernoulli(x, 1.0)


x = torch.ones(4, device="cuda")
eager, compiled = function(x).dtype, torch.compile(function)(x).dtype
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
