"""A range as bytes and back is not taken modulo 256 when it is compiled, and one as float32 and back is not rounded."""

import sys

import torch


def function(x):
    count = torch.arange(254, 258)
    large = torch.arange(16777216, 16777220)
    return count.to(torch.uint8).long() + x, large.float().long() + x, (count.to(torch.int8) * 2).long() + x


x = torch.zeros(4, dtype=torch.int64)
eager, compiled = function(x), torch.compile(function)(x)
print([each.tolist() for each in eager], [each.tolist() for each in compiled], sep="\n")
sys.exit(any(not torch.equal(one, other) for one, other in zip(eager, compiled)))
