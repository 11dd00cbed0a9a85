"""Strides of the result: (2, 1) in eager mode, those of `out`; (3, 1) compiled."""

import torch


def function(x, w):
    return torch.ops.aten.diagonal_scatter.out(x[:, 1:], w, out=torch.empty(5, 2))


print(function(torch.zeros(5, 3), torch.ones(2)).stride())
print(torch.compile(function)(torch.zeros(5, 3), torch.ones(2)).stride())
