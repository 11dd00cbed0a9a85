"""Strides behind a write in place to a transposed input: (1, 2) in eager mode, (2, 1) compiled."""

import sys

import torch


def function(x, index):
    x.scatter_(0, index, 0.5)
    return x.acos()


index = torch.zeros(2, 2, dtype=torch.int64)
eager = function(torch.ones(2, 2).t(), index).stride()
compiled = torch.compile(function)(torch.ones(2, 2).t(), index).stride()
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
