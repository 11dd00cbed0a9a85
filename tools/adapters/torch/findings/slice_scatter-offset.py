"""The result's storage offset: 2 in eager mode, 0 compiled."""

import torch


def function(x, w):
    return torch.ops.aten.slice_scatter.default(x[:, 2:], w, 1, 1)


print(function(torch.zeros(8, 4), torch.ones(8, 1)).storage_offset())
print(torch.compile(function)(torch.zeros(8, 4), torch.ones(8, 1)).storage_offset())
