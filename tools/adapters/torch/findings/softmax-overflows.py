"""The softmax of large numbers times a small one: compiled, the maximum is subtracted first, which overflows."""

import sys

import torch


def function(x):
    return torch.log_softmax(x * 1e-38, -1)


x = torch.tensor([3e38, -3e38])
eager, compiled = function(x), torch.compile(function)(x)
print(eager.tolist(), compiled.tolist(), sep="\n")
sys.exit(not torch.allclose(eager, compiled, rtol=1e-2))
