"""The index of a window of -inf and padding: 0 in eager mode, -3 compiled."""

import sys

import torch


def function(x):
    return torch.nn.functional.max_pool2d(x, 2, padding=1, return_indices=True)[1]


x = torch.tensor([[[[-torch.inf, 1.0], [2.0, 3.0]]]])
eager = function(x)[0, 0, 0, 0].item()
compiled = torch.compile(function)(x)[0, 0, 0, 0].item()
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
