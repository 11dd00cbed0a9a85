"""x / x, rounded to whole numbers, on a GPU: 1 for every x in eager mode, 0 for some compiled."""

import sys

import torch

x = torch.rand(4096, device="cuda") + 0.1
wrong = 0
for mode in "floor", "trunc":

    def function(x, y):
        return torch.div(x, y, rounding_mode=mode)

    torch._dynamo.reset()
    y = x.clone()
    eager, compiled = function(x, y), torch.compile(function)(x, y)
    print(mode, (eager != 1).sum().item(), (compiled != 1).sum().item())
    wrong += (eager != compiled).sum().item()
sys.exit(wrong != 0)
