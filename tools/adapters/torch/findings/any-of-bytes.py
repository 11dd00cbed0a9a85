"""any of bytes: bytes in eager mode, booleans compiled, so that arithmetic behind it is another's."""

import sys

import torch


def function(x):
    return torch.any(x) * 200 + 100


argument = torch.tensor([[0, 3], [0, 0]], dtype=torch.uint8)
eager, compiled = function(argument), torch.compile(function)(argument)
print(eager, compiled, sep="\n")
sys.exit(eager.dtype != compiled.dtype or not torch.equal(eager, compiled))
