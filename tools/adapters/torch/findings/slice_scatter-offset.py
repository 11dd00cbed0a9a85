"""The result's storage offset: 2 in eager mode, 0 compiled."""

import sys

import torch


def function(x, w):
    return torch.ops.aten.slice_scatter.default(x[:, 2:], w, 1, 1)


eager = function(torch.zeros(8, 4), torch.ones(8, 1)).storage_offset()
compiled = torch.compile(function)(torch.zeros(8, 4), torch.ones(8, 1)).storage_offset()
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
