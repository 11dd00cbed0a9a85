"""A tensor that one piece makes and another transposes in place comes back as it was made: a wrong shape, and no error.

PiecewiseBackend (compilation/piecewise_backend.py) compiles a piece for the `example_value` of its inputs. Dynamo's example
has the geometry from behind the last op in place, also where it enters the first piece.
"""

import sys

import torch
from compiled import compiled


@torch.library.custom_op("mylib::scale_", mutates_args={"x"})
def scale_(x: torch.Tensor, factor: float) -> None:
    x.mul_(factor)


def function(x):
    h = x + 1.0
    scale_(h, 2.0)
    h.t_()
    scale_(h, 2.0)
    return h


x = torch.arange(12.0).view(3, 4)
eager = function(x)
got = compiled(function, split=["mylib::scale_"])(x)
print(eager.shape, got.shape, sep="\n")
sys.exit(eager.shape != got.shape)
