"""Strides of a copy of a transposed tensor: (3, 1) in eager mode, (1, 4) compiled."""

import sys

import torch


def function(x):
    return torch.ops.aten.view_copy.default(x.t(), [4, 3])


eager = function(torch.ones(3, 4)).stride()
compiled = torch.compile(function)(torch.ones(3, 4)).stride()
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
