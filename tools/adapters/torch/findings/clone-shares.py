"""A clone has memory of its own: False in eager mode, True compiled."""

import sys

import torch


def function(x):
    n = -x
    w = n.copy_(n)
    return w, n.clone()


def shares(outputs):
    a, b = outputs
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


eager = shares(function(torch.ones(2, 2)))
compiled = shares(torch.compile(function)(torch.ones(2, 2)))
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
