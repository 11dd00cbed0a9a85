"""alpha of an addition behind a product: 24.0 in eager mode, 16.0 compiled."""

import sys

import torch


def function(x, w, y):
    return torch.add(y, torch.mm(x, w), alpha=1.5)


arguments = torch.ones(4, 16), torch.ones(16, 8), torch.zeros(4, 8)
eager = function(*arguments)[0, 0].item()
compiled = torch.compile(function)(*arguments)[0, 0].item()
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
