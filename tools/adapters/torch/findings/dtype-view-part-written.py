"""A custom op that writes in place to a part of numbers viewed as int32: compiled, integers are stored where bits belong."""

import sys

import torch


@torch.library.custom_op("findings::increment", mutates_args=("x",))
def increment(x: torch.Tensor) -> None:
    x.add_(1)


def function(x):
    y = x * 2
    torch.ops.findings.increment(y.view(torch.int32)[1:])
    return y


x = torch.arange(4.0)
eager, compiled = function(x.clone()), torch.compile(function)(x.clone())
print(eager.tolist(), compiled.tolist(), sep="\n")
sys.exit(not torch.equal(eager, compiled))
