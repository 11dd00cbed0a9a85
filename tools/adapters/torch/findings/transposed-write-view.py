"""A view of what was written through its transpose: made in eager mode, refused when compiled."""

import sys

import torch


def function(x):
    x.t().zero_()
    return x.view(-1)


print(function(torch.ones(2, 2)))
try:
    print(torch.compile(function)(torch.ones(2, 2)))
except Exception as error:
    print(next(line for line in str(error).splitlines() if "Error" in line))
    sys.exit(1)
