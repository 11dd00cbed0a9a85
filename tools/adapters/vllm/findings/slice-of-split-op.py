"""A slice of what a split op returns does not compile.

generate_execution_code_with_name (compilation/codegen.py) writes each operator.getitem as that of a tuple:
`assert isinstance(index, int)`. Indexing of a tensor is operator.getitem, too, and stands in its operand's piece.
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


def function(x):
    return double(x)[:, 1:3] * 2


message = error_of(compiled(function, split=["mylib::double"], pieces="eager"), torch.zeros(3, 4))
print(message or "compiled")
sys.exit(bool(message))
