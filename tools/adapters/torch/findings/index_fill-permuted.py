"""index_fill of a permuted tensor: filled in eager mode, not compiled."""

import sys

import torch


def function(x, index):
    return x.index_fill(0, index, 0.5)


x, index = torch.ones(1, 2, 4).transpose(1, 2), torch.tensor([0, 0])
print(function(x, index).shape)
try:
    print(torch.compile(function)(x, index).shape)
except Exception as error:
    print(str(error).splitlines()[1])
    sys.exit(1)
