"""The place of a number among float64 elements: compiled, the number is a float32 one first."""

import sys

import torch


def function(tenths):
    return torch.bucketize(0.1, tenths), torch.searchsorted(tenths, 0.1), torch.isin(0.1, tenths)


tenths = torch.tensor([0.1, 0.2], dtype=torch.float64)
eager = [each.item() for each in function(tenths)]
compiled = [each.item() for each in torch.compile(function)(tenths)]
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
