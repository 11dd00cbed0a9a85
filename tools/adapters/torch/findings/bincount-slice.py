"""A slice of what bincount counted: taken in eager mode, not compiled."""

import sys

import torch


def function(x):
    return torch.ops.aten.slice.Tensor(torch.bincount(x))


torch._dynamo.config.capture_dynamic_output_shape_ops = True
x = torch.tensor([0])
print(function(x))
try:
    print(torch.compile(function)(x))
except Exception as error:
    print(str(error).splitlines()[0])
    sys.exit(1)
