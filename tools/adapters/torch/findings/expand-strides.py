"""Strides of what was expanded: (0, 1, 4) in eager mode, (1, 2, 8) compiled."""

import sys

import torch


def function(x):
    return torch.nn.functional.gelu(x).expand(2, 4, 8)


x = torch.ones(8, 4).t()
eager, compiled = function(x).stride(), torch.compile(function)(x).stride()
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
