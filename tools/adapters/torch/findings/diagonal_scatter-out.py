"""Strides of the result: (2, 1) in eager mode, those of `out`; (3, 1) compiled."""

import sys

import torch


def function(x, w):
    return torch.ops.aten.diagonal_scatter.out(x[:, 1:], w, out=torch.empty(5, 2))


eager = function(torch.zeros(5, 3), torch.ones(2)).stride()
compiled = torch.compile(function)(torch.zeros(5, 3), torch.ones(2)).stride()
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
