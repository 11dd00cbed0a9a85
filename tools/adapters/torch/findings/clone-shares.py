"""A clone has memory of its own: False in eager mode, True compiled."""

import torch


def function(x):
    n = -x
    w = n.copy_(n)
    return w, n.clone()


def shares(outputs):
    a, b = outputs
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


print(shares(function(torch.ones(2, 2))))
print(shares(torch.compile(function)(torch.ones(2, 2))))
