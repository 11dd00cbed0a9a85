"""bucketize of NaN, on a GPU: behind all boundaries in eager mode, before them compiled."""

import sys

import torch


def function(x, boundaries):
    return torch.bucketize(x, boundaries)


arguments = torch.tensor([float("nan"), 1.5], device="cuda"), torch.tensor([0.0, 1.0, 2.0], device="cuda")
eager, compiled = function(*arguments), torch.compile(function)(*arguments)
print(eager.tolist(), compiled.tolist(), sep="\n")
sys.exit(not torch.equal(eager, compiled))
