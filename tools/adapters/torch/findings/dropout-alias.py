"""Whether the output is the input: True in eager mode, False compiled."""

import sys

import torch


def function(x):
    return torch.ops.aten.dropout.default(x, 0.5, False)


x = torch.ones(4)
eager = function(x).data_ptr() == x.data_ptr()
compiled = torch.compile(function)(x).data_ptr() == x.data_ptr()
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
