"""An index that is computed behind a split op, of a tensor that was there before: it does not compile.

As in index-before-write.py: the indexing goes into the operand's piece, where the index is not known yet.
"""

import sys

import torch
from compiled import compiled, error_of


@torch.library.custom_op("mylib::scale_", mutates_args={"x"})
def scale_(x: torch.Tensor, factor: float) -> None:
    x.mul_(factor)


def function(x, rows):
    h = x + 1.0
    scale_(h, 10.0)
    later = rows + 1
    scale_(h, 10.0)
    return h[later]


message = error_of(compiled(function, split=["mylib::scale_"], pieces="eager"), torch.zeros(3, 4), torch.tensor([0, 1]))
print(message or "compiled")
sys.exit(bool(message))
