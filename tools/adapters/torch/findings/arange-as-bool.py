"""A range that is cast to bool keeps its numbers when it is compiled: 0, 1, 2, 3 in place of 0, 1, 1, 1."""

import sys

import torch


def function(x):
    hits = torch.arange(4).bool()
    return hits.long(), hits.sum(), x[hits.long()]


x = torch.tensor([10, 20, 30, 40])
eager, compiled = function(x), torch.compile(function)(x)
print([each.tolist() for each in eager], [each.tolist() for each in compiled], sep="\n")
sys.exit(any(not torch.equal(one, other) for one, other in zip(eager, compiled)))
