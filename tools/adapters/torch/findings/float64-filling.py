"""Padding of float64 with 0.1, on a GPU: it is the float32 number."""

import sys

import torch


def padded(x):
    return torch.nn.functional.pad(x, (1, 1), value=0.1)


def masked(x):
    return torch.where(x > 0, 0.1, x)


def filled(x):
    return x.masked_fill(x > 0, 0.1)


argument = torch.ones(4, dtype=torch.float64, device="cuda")
seen = False
for function in padded, masked, filled:
    torch._dynamo.reset()
    eager, compiled = function(argument), torch.compile(function)(argument)
    print(function.__name__, eager[0].item(), compiled[0].item())
    seen |= not torch.equal(eager, compiled)
sys.exit(seen)
