"""A piece writes a base and reads a view of it, and has both as inputs: with compile_sizes, it reads what was before.

create_concrete_args (compilation/piecewise_backend.py) makes each example of a piece's inputs anew, so that they share
no memory, and the piece is compiled for inputs that do not.
"""

import sys

import torch
from compiled import compiled


@torch.library.custom_op("mylib::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@double.register_fake
def _(x):
    return torch.empty_like(x)


def function(x):
    h = x * 2.0
    part = h.narrow(1, 0, 2)
    y = double(h)
    h.add_(100.0)
    return part + y.narrow(1, 0, 2)


call = compiled(function, split=["mylib::double"], compile_sizes=[6])
x = torch.arange(24.0).view(6, 4)
torch._dynamo.mark_dynamic(x, 0)
eager, got = function(x), call(x)
print(eager, got, sep="\n")
sys.exit(not torch.equal(eager, got))
