"""Whether the output is the input: True in eager mode, False compiled."""

import torch


def function(x):
    return torch.ops.aten.dropout.default(x, 0.5, False)


x = torch.ones(4)
print(function(x).data_ptr() == x.data_ptr())
print(torch.compile(function)(x).data_ptr() == x.data_ptr())
