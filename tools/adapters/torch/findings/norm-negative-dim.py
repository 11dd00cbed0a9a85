"""Sizes of a norm along dimension -2, of size 1: (2,) in eager mode, (1, 2) compiled."""

import sys

import torch


def function(x):
    return torch.ops.aten.norm.ScalarOpt_dim(x, 2, [-2])


eager = tuple(function(torch.ones(1, 2)).shape)
compiled = tuple(torch.compile(function)(torch.ones(1, 2)).shape)
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
