"""1e8 % 3: 1.0 in eager mode, 0.0 compiled for a CPU with vector units."""

import sys

import torch


def function(x):
    return torch.remainder(x, 3.0)


eager = function(torch.full((16,), 1e8))[0].item()
compiled = torch.compile(function)(torch.full((16,), 1e8))[0].item()
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
