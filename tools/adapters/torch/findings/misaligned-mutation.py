"""A tensor written in place that lies on another alignment than at the first call, with CUDA graphs: the write is lost."""

import sys

import torch


def function(x):
    x.add_(1)
    return x * 2


compiled = torch.compile(function, mode="reduce-overhead")
seen = False
for offset in (0, 1):  # in elements of 4 bytes: the second begins 4 bytes behind a mark of 16
    x = torch.arange(17.0, device="cuda")[offset : offset + 16]
    expected = x + 1
    compiled(x)
    print("offset", offset, x[:4].tolist(), "expected", expected[:4].tolist())
    seen |= not torch.equal(x, expected)
sys.exit(seen)
