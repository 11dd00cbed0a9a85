"""The place of the largest of more than 2**31 numbers, on a GPU (60 GB): no number is looked at, and the place is 2**63 - 1."""

import sys

import torch


def function(x, y):
    return (x[:, None].to(torch.int64) * 70000 + y[None]).argmax()


arguments = torch.arange(60000, device="cuda"), torch.zeros(50001, dtype=torch.int64, device="cuda")
eager, compiled = function(*arguments), torch.compile(function)(*arguments)
print(eager.item(), compiled.item())
sys.exit(not torch.equal(eager, compiled))
