"""A custom op that writes in place to real numbers viewed as complex: compiled, it gets the first real numbers alone."""

import sys

import torch


@torch.library.custom_op("findings::increment", mutates_args=("x",))
def increment(x: torch.Tensor) -> None:
    x.add_(1)


def function(x):
    torch.ops.findings.increment(torch.view_as_complex(x))
    return x


x = torch.arange(8.0).view(4, 2)
eager, compiled = function(x.clone()), torch.compile(function)(x.clone())
print(eager.tolist(), compiled.tolist(), sep="\n")
sys.exit(not torch.equal(eager, compiled))
