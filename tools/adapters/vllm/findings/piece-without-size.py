"""A piece that reads no size cannot run where compile_sizes, or more than one range, are given.

PiecewiseBackend (compilation/piecewise_backend.py) compiles every piece for each size and range, but asserts in __call__
that a piece without symbolic arguments has one graph. What stands between two splitting ops and reads weights or
buffers alone is such a piece.
"""

import sys

import torch
from compiled import compiled, error_of


@torch.library.custom_op("mylib::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@double.register_fake
def _(x):
    return torch.empty_like(x)


def function(x, weight):
    h = double(x)
    scale = weight.abs().sum()
    return double(h) * scale


call = compiled(function, split=["mylib::double"], pieces="eager", dynamic=True, compile_sizes=[6])
x = torch.ones(5, 4)
torch._dynamo.mark_static(weight := torch.ones(3))
message = error_of(call, x, weight)
print(message or "compiled")
sys.exit(bool(message))
