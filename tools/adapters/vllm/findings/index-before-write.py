"""Rows are picked by index behind a split op that writes: vLLM picks them before it.

split_graph (compilation/backends.py) puts every operator.getitem into its operand's piece, so that no tuple crosses pieces.
Indexing of a tensor is operator.getitem, too; where the index is a tensor or a list it copies, and copies too early.
"""

import sys

import torch
from compiled import compiled


@torch.library.custom_op("mylib::scale_", mutates_args={"x"})
def scale_(x: torch.Tensor, factor: float) -> None:
    x.mul_(factor)


def function(x, rows):
    h = x + 1.0
    scale_(h, 10.0)
    return h[rows]


arguments = torch.arange(12.0).view(3, 4), torch.tensor([0, 2])
eager = function(*arguments)
got = compiled(function, split=["mylib::scale_"], pieces="eager")(*arguments)
print(eager, got, sep="\n")
sys.exit(not torch.equal(eager, got))
