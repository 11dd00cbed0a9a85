"""The storage offset of narrow_copy of what was padded: 0 in eager mode, 10 compiled."""

import sys

import torch


def function(x):
    return torch.narrow_copy(torch.nn.functional.pad(x, (1, 2)), 0, 1, 1)


x = torch.ones(2, 2, 2)
eager, compiled = function(x).storage_offset(), torch.compile(function)(x).storage_offset()
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
