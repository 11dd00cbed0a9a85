"""A product of what `x` was before it was added to: 2.0 in eager mode, 4.0 compiled for CPU."""

import sys

import torch


def function(x, y, z):
    product = torch.bmm(x, y)
    x.add_(z)
    return product, -x


def arguments():
    return torch.ones(2, 8, 2), torch.ones(2, 2, 8), torch.ones(8, 2)


eager = function(*arguments())[0].max().item()
compiled = torch.compile(function)(*arguments())[0].max().item()
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
