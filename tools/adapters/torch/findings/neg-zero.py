"""1 / -x of x = 0 on a GPU: -inf in eager mode, inf compiled (a negation becomes 0 - x)."""

import sys

import torch


def function(x):
    return 1 / -x


x = torch.zeros(1, device="cuda")
eager, compiled = function(x).item(), torch.compile(function)(x).item()
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
