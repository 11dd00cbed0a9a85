"""What lies beyond 2**31 in a range, and a running sum of more than 2**31 bytes, on a GPU (22 GB): they do not compile."""

import sys

import torch


def end_of_range(x):
    return torch.arange(3_000_000_000, device=x.device)[-7:] + 1


def running_sum(x):
    return x.cumsum(0, dtype=torch.int32)[-9:]


seen = False
for function, count in (end_of_range, 1), (running_sum, 2_200_000_000):
    argument = torch.ones(count, dtype=torch.int8, device="cuda")
    eager = function(argument)
    try:
        print(function.__name__, torch.equal(eager, torch.compile(function)(argument)))
    except Exception as error:
        print(function.__name__, [line for line in str(error).splitlines() if line.strip()][-3][:150])
        seen = True
sys.exit(seen)
