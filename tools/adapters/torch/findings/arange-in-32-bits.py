"""The cube of a range, on a GPU: it wraps around at 2**31. A range times a number of more than 31 bits does not compile."""

import sys

import torch


def cubed(x):
    return torch.arange(3000, device=x.device) ** 3


def hashed(x):
    return torch.arange(3000, device=x.device) * 2654435761 % 1000003


argument = torch.zeros(1, device="cuda")
seen = False
for function in cubed, hashed:
    torch._dynamo.reset()
    eager = function(argument)
    try:
        compiled = torch.compile(function)(argument)
        print(function.__name__, eager[-1].item(), compiled[-1].item())
        seen |= not torch.equal(eager, compiled)
    except Exception as error:
        print(function.__name__, [line for line in str(error).splitlines() if "Scalar" in line])
        seen = True
sys.exit(seen)
