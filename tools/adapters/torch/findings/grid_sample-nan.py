"""Sampling at NaN, which is documented to be -1: compiled, it is 0, also where the border is to be taken."""

import sys

import torch


def function(x, grid):
    return torch.nn.functional.grid_sample(x, grid, padding_mode="border", align_corners=True)


x, grid = torch.tensor([[[[5.0, 6.0], [7.0, 8.0]]]]), torch.full((1, 1, 1, 2), float("nan"))
eager, compiled = function(x, grid).item(), torch.compile(function)(x, grid).item()
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
