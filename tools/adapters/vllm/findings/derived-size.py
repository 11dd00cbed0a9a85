"""A piece is compiled for one size (compile_sizes), and run for another: it reads beyond its inputs.

PiecewiseBackend (compilation/piecewise_backend.py) compiles with the model's size as every symbol (create_concrete_args),
but chooses what to run by the piece's first symbolic argument, which here is twice that.
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
    twice = x.shape[0] * 2
    h = double(double(x))
    return torch.ones(twice) + h.sum()


call = compiled(function, split=["mylib::double"], dynamic=True, compile_sizes=[6])
call(torch.ones(5, 4))
x = torch.ones(3, 4)
eager, got = function(x), call(x)
print(eager, got, sep="\n")
sys.exit(not (eager.shape == got.shape and torch.equal(eager, got)))
