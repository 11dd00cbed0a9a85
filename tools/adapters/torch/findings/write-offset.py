"""The storage offset of a part that was written in place: 2 in eager mode, 0 compiled."""

import sys

import torch


def function(x):
    return (1 - x).t()[:, 1:].unsqueeze(2).relu_()


x = torch.ones(5, 2)
eager, compiled = function(x).storage_offset(), torch.compile(function)(x).storage_offset()
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
