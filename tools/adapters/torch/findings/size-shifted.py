"""Two to the power of a size that is a symbol: a kernel on the CPU shifts an int of 32 bits, so 2**40 is 256."""

import sys

import torch


def function(x):
    return x + 2 ** x.shape[0], x + (1 << x.shape[0])


x = torch.zeros(40, dtype=torch.int64)
eager, compiled = function(x), torch.compile(function, dynamic=True)(x)
print([each[0].item() for each in eager], [each[0].item() for each in compiled], sep="\n")
sys.exit(any(not torch.equal(one, other) for one, other in zip(eager, compiled)))
