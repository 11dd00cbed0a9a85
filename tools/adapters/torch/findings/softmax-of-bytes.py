"""The softmax of scaled bytes: compiled, the maximum is subtracted before the scale, as bytes."""

import sys

import torch


def function(x):
    return torch.softmax(x * 0.5, -1)


x = torch.tensor([[1, 5, 200]], dtype=torch.uint8)
eager, compiled = function(x), torch.compile(function)(x)
print(eager.tolist(), compiled.tolist(), sep="\n")
sys.exit(not torch.allclose(eager, compiled, atol=1e-3))
