"""The size of a tensor that was transposed in place is that from before: wrong shapes, and no error.

_decompose_size_nodes (compilation/backends.py) asks for sizes right behind the node that made the tensor, and takes from
its `example_value`, which has the last geometry, how many there are and which are constant.
"""

import sys

import torch
from compiled import compiled


def function(x):
    y = x * 2.0
    y.t_()
    return torch.zeros(y.size())


call = compiled(function, pieces="eager", dynamic=True)
eager = function(torch.ones(3, 4)).shape
got = call(torch.ones(3, 4)).shape
print(eager, got, sep="\n")
sys.exit(eager != got)
