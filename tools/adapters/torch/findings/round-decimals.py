"""Rounding to thousands: ties go to the wrong side when it is compiled, and 0.3 is rounded to 0.30000000000000004."""

import sys

import torch


def function(x, y):
    return torch.round(x, decimals=-3), torch.round(y, decimals=1)


x = torch.tensor([8190500.0, 8188500.0, 536905024.0])
y = torch.tensor([0.3, 0.7], dtype=torch.float64)
eager, compiled = function(x, y), torch.compile(function)(x, y)
print([each.tolist() for each in eager], [each.tolist() for each in compiled], sep="\n")
sys.exit(not torch.equal(eager[0], compiled[0]))
