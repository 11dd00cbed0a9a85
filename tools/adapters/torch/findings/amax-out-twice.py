"""A maximum into an out= argument and beside it: the C++ that it becomes declares a name twice."""

import sys

import torch


def function(x, out):
    torch.amax(x, 0, out=out)
    return torch.amax(x, 0)


x = torch.ones(8, 2, dtype=torch.bfloat16)
print(function(x, torch.empty(2, dtype=torch.bfloat16)))
try:
    print(torch.compile(function)(x, torch.empty(2, dtype=torch.bfloat16)))
except Exception as error:
    print(*[line for line in str(error).splitlines() if " error: " in line], sep="\n")
    sys.exit(1)
