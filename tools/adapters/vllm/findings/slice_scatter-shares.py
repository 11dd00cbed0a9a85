"""slice_scatter over all of a tensor returns the caller's source itself: who writes the result changes the argument.

NoOpEliminationPass replaces the node by its source, and does not ask whether that is an input and the result an output.
Inductor's remove_noop_ops asks.
"""

import sys

import torch
from compiled import compiled


def function(x, y):
    return torch.slice_scatter(x, y, 0, 0, 3)


x, y = torch.zeros(3, 4), torch.ones(3, 4)
compiled(function)(x, y).add_(1.0)
print(y)
sys.exit(not torch.equal(y, torch.ones(3, 4)))
