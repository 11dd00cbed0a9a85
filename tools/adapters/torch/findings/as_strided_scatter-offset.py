"""as_strided_scatter into a part: elements are counted from the start of the storage in eager mode, and of the part compiled."""

import sys

import torch


def function(x, source):
    return torch.as_strided_scatter(x, source, (2,), (1,), 5)


part, source = torch.arange(16.0).view(4, 4)[1:], torch.tensor([70.0, 80.0])
eager, compiled = function(part, source), torch.compile(function)(part, source)
print(eager.tolist(), compiled.tolist(), sep="\n")
sys.exit(not torch.equal(eager, compiled))
