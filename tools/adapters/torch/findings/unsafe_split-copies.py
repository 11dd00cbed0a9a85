"""Whose storage unsafe_split's parts of a written input have: the input's in eager mode, their own compiled."""

import sys

import torch


def function(x):
    x.zero_()
    return torch.unsafe_split(x, 1)[1]


def shares(compute):
    x = torch.ones(2)
    return compute(x).untyped_storage().data_ptr() == x.untyped_storage().data_ptr()


eager, compiled = shares(function), shares(torch.compile(function))
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
