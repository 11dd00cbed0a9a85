"""Strides of a sum into a copy: (1,) in eager mode, (2,) compiled, those of the view."""

import sys

import torch


def function(x, index, y):
    return torch.index_add((x * 2)[::2], 0, index, y)


arguments = (torch.ones(8), torch.tensor([1]), torch.ones(1))
eager = function(*arguments).stride()
compiled = torch.compile(function)(*arguments).stride()
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
