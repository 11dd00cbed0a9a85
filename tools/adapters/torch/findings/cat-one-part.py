"""A part that is joined with nothing: contiguous in eager mode, and not compiled. A view of it does not compile."""

import sys

import torch


def joined(x):
    return torch.cat([x.t()])


def viewed(x):
    return torch.cat([x.t(), x.new_empty(0)]).view(-1)


x = torch.arange(12.0).view(3, 4)
eager, compiled = joined(x).stride(), torch.compile(joined)(x).stride()
print(eager, compiled)
broken = False
try:
    torch.compile(viewed)(x)
except torch._dynamo.exc.BackendCompilerFailed as error:
    print(viewed(x).shape, str(error).strip().splitlines()[1])
    broken = True
sys.exit(broken or eager != compiled)
