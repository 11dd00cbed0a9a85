"""A stack has memory of its own: False in eager mode, True compiled."""

import sys

import torch


def function(x, y):
    norm = torch.linalg.vector_norm(x, dim=[1], out=torch.empty(2))
    x.add_(1)
    return norm.view(2, 1), torch.stack([norm, y])


def shares(outputs):
    a, b = outputs
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


eager = shares(function(torch.ones(2, 3), torch.ones(2)))
compiled = shares(torch.compile(function)(torch.ones(2, 3), torch.ones(2)))
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
