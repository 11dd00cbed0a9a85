"""slice_scatter over all of a bfloat16 tensor returns float32: the source in the place of the result.

NoOpEliminationPass compares shapes alone: `node.replace_all_uses_with(view)`.
"""

import sys

import torch
from compiled import compiled


def function(x, y):
    return torch.slice_scatter(x, y, 0, 0, 3)


arguments = torch.zeros(3, 4, dtype=torch.bfloat16), torch.full((3, 4), 1.001)
eager = function(*arguments)
got = compiled(function)(*arguments)
print(eager, got, sep="\n")
sys.exit(eager.dtype != got.dtype)
