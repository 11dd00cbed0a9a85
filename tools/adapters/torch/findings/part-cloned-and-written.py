"""A custom op that writes in place to the clone of a part: compiled, it works on the first rows of the whole."""

import sys

import torch


@torch.library.custom_op("findings::increment", mutates_args=("x",))
def increment(x: torch.Tensor) -> None:
    x.add_(1)


def function(x):
    part = x[2:].clone()
    torch.ops.findings.increment(part)
    return part


x = torch.arange(8.0).view(4, 2)
eager, compiled = function(x.clone()), torch.compile(function)(x.clone())
print(eager.tolist(), compiled.tolist(), sep="\n")
sys.exit(not torch.equal(eager, compiled))
