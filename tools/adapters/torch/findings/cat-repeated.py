"""A channels_last tensor joined with itself: channels_last in eager mode, contiguous compiled."""

import sys

import torch


def function(x):
    return torch.cat([x, x], 1)


x = torch.rand(2, 3, 4, 5).to(memory_format=torch.channels_last)
eager, compiled = function(x).stride(), torch.compile(function)(x).stride()
print(eager, compiled)
sys.exit(eager != compiled)
