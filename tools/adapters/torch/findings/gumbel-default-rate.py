"""A choice by noise of the default rate does not compile: `argmax(softmax(x, -1) / noise.exponential_(), -1)`.

`apply_gumbel_max_trick` in `_inductor/fx_passes/apply_gumbel_max_trick.py` takes two arguments of `exponential_`,
the tensor and the rate, and the rate need not be given.
"""

import sys

import torch


def function(x):
    noise = torch.empty_like(x).exponential_()
    return torch.argmax(torch.nn.functional.softmax(x, dim=-1) / noise, dim=-1, keepdim=True)


x = torch.randn(8, 4)
print(function(x).shape)
try:
    print(torch.compile(function)(x).shape)
except Exception as error:
    print(type(error).__name__, str(error).splitlines()[1])
    sys.exit(1)
