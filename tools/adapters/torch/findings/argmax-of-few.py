"""The place of the largest of a few numbers that are transposed, on a GPU: it does not compile."""

import sys

import torch


def function(x):
    return x.t().argmax(), x.t().argmin()


argument = torch.arange(6.0, device="cuda").view(2, 3)
eager = function(argument)
try:
    compiled = torch.compile(function)(argument)
    print([x.item() for x in eager], [x.item() for x in compiled])
    sys.exit(any(not torch.equal(a, b) for a, b in zip(eager, compiled)))
except Exception as error:
    print(str(error).strip().splitlines()[0][:200])
    sys.exit(1)
