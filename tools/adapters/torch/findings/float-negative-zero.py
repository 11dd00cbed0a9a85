"""A float argument that is -0.0: it counts as 0.0 once other values have made the argument a symbol."""

import sys

import torch


def function(x, number):
    return torch.copysign(x, torch.full_like(x, number))


argument = torch.ones(2)
compiled = torch.compile(function)
for number in 0.5, -0.0:
    eager, again = function(argument, number), compiled(argument, number)
    print(number, eager.tolist(), again.tolist())
sys.exit(not torch.equal(eager, again))
