"""A function that takes a size as one argument gets its numbers as arguments of their own.

_decompose_size_nodes (compilation/backends.py): `new_args.extend(dims)`, which suits view(*sizes), and no
torch.broadcast_to, torch.full or as_strided.
"""

import sys

import torch
from compiled import compiled, error_of


def function(x, bias):
    return torch.broadcast_to(bias, x.size()) * x


message = error_of(compiled(function, pieces="eager", dynamic=True), torch.ones(3, 4), torch.ones(4))
print(message or "compiled")
sys.exit(bool(message))
