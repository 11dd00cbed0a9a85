"""A symbolic size times 0.7 times 10 is seven times the size when it is compiled, where rounding makes 20 of 3."""

import sys

import torch


def function(x):
    return x.new_zeros(int(x.shape[0] * 0.7 * 10))


x = torch.zeros(3)
eager, compiled = function(x), torch.compile(function, dynamic=True)(x)
print(list(eager.shape), list(compiled.shape), sep="\n")
sys.exit(eager.shape != compiled.shape)
