"""Random numbers of the default dtype: float64 in eager mode, float32 when they are compiled."""

import sys

import torch


def function(x):
    return torch.rand(3), torch.randn(3), x * 2


torch.set_default_dtype(torch.float64)
argument = torch.zeros(3)
eager, compiled = ([x.dtype for x in run(argument)] for run in (function, torch.compile(function)))
print(eager, compiled)
sys.exit(eager != compiled)
