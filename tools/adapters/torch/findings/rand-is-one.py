"""Random numbers of 16 bits: below 1 in eager mode, 1 itself now and then when they are compiled."""

import sys

import torch

COUNT = 1 << 20


def function(x):
    return torch.rand(COUNT, dtype=torch.bfloat16, device=x.device), torch.rand(COUNT, dtype=torch.float16, device=x.device)


argument = torch.zeros(1)
ones = []
for name, run in ("eager", function), ("compiled", torch.compile(function)):
    ones = [(x == 1).sum().item() for x in run(argument)]
    print(name, ones, "of", COUNT, "are 1")
sys.exit(any(ones))
