"""bincount with an out= argument, in one graph: computed in eager mode, not compiled."""

import sys

import torch


def function(x, out):
    return torch.ops.aten.bincount.out(x, out=out)


torch._dynamo.config.capture_dynamic_output_shape_ops = True
x = torch.tensor([1])
print(function(x, torch.empty(2, dtype=torch.int64)))
try:
    print(torch.compile(function)(x, torch.empty(2, dtype=torch.int64)))
except Exception as error:
    print(str(error).splitlines()[1])
    sys.exit(1)
