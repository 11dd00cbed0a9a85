"""The negative of the smallest int16, on a GPU: it does not wrap around before it is used in the same kernel."""

import sys

import torch


def function(x):
    return (-x).to(torch.int32), -x // 7, x.abs().to(torch.int64)


argument = torch.tensor([-32768, 3], dtype=torch.int16, device="cuda")
eager, compiled = function(argument), torch.compile(function)(argument)
print([x.tolist() for x in eager], [x.tolist() for x in compiled])
sys.exit(any(not torch.equal(a, b) for a, b in zip(eager, compiled)))
