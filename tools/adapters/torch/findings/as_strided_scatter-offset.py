"""as_strided_scatter into a part: eager mode counts from the start of the storage, compiled code from that of the part."""

import sys

import torch


def function(x, source):
    return torch.as_strided_scatter(x, source, (2,), (1,), 5)


part, source = torch.arange(16.0).view(4, 4)[1:], torch.tensor([70.0, 80.0])
eager, compiled = function(part, source), torch.compile(function)(part, source)
print(eager.tolist(), compiled.tolist(), sep="\n")
sys.exit(not torch.equal(eager, compiled))
