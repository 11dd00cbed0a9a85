"""segment_reduce with lengths, on a GPU with CUDA graphs: it asks the host while it is captured."""

import sys

import torch


def function(x, lengths):
    return torch.segment_reduce(x, "max", lengths=lengths)


x, lengths = torch.ones(4, 2, device="cuda"), torch.tensor([1, 3], device="cuda")
print(function(x, lengths))
compiled = torch.compile(function, mode="reduce-overhead")
try:
    for _ in range(3):  # as it is, recorded, replayed
        print(compiled(x, lengths))
except Exception as error:
    print(type(error).__name__, str(error).splitlines()[0])
    sys.exit(1)
