"""The place of the maximum of a window with NaN: the last NaN in eager mode, the first one compiled."""

import sys

import torch


def function(x):
    return torch.nn.functional.max_pool2d(x, 2, return_indices=True)


nan = float("nan")
argument = torch.tensor([[[[nan, 1.0], [nan, 3.0]]]])
eager, compiled = function(argument), torch.compile(function)(argument)
print(eager, compiled, sep="\n")
sys.exit(not torch.equal(eager[1], compiled[1]))
