"""Booleans seen as bytes, on a GPU: they do not compile."""

import sys

import torch


def function(x):
    return x.view(torch.uint8) + 1


argument = torch.tensor([True, False], device="cuda")
eager = function(argument)
try:
    compiled = torch.compile(function)(argument)
    print(eager.tolist(), compiled.tolist())
    sys.exit(not torch.equal(eager, compiled))
except Exception as error:
    print(str(error).strip().splitlines()[0][:200])
    sys.exit(1)
