"""What one piece makes of nonzero, with sizes that data decide, is read by another with wrong strides: wrong values.

Inductor returns torch.nonzero(x).float() with strides (2, 1), eager mode and its example with (1, n). PiecewiseBackend
(compilation/piecewise_backend.py) compiles the next piece for the strides of the example, and nothing compares them.
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
    return double(torch.nonzero(x).float()) + 1.0


x = torch.tensor([[1.0, 0.0, 2.0], [3.0, 4.0, 0.0]])
eager = function(x)
got = compiled(function, split=["mylib::double"])(x)
print(eager, got, sep="\n")
sys.exit(not torch.equal(eager, got))
