"""Bilinear interpolation beside an infinity: infinite in eager mode, NaN compiled."""

import sys

import torch


def function(x):
    return torch.nn.functional.interpolate(x, (4, 4), mode="bilinear")


argument = torch.zeros(1, 1, 2, 2)
argument[0, 0, 0, 1] = -float("inf")
eager, compiled = function(argument), torch.compile(function)(argument)
print(eager[0, 0], compiled[0, 0], sep="\n")
sys.exit(int(compiled.isnan().sum()) > int(eager.isnan().sum()))
