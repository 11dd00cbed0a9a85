"""A split op with two results whose size data decide does not compile: cycle exists between partitions.

split_graph (compilation/backends.py) puts every getitem of a split op into the op's piece, also one that stands behind
the sym_size and the assertions of the next piece. That size is the next piece's, so split_module finds that each of the
two pieces needs the other.
"""

import sys

import torch
from compiled import compiled


def function(x):
    values, _, counts = torch.ops.aten.unique_dim(x, 0, True, False, True)
    return values + 1, counts


x = torch.tensor([[1], [2], [1]])
print(function(x))
try:
    print(compiled(function, split=["aten::unique_dim"], pieces="eager")(x))
except torch._dynamo.exc.BackendCompilerFailed as error:
    print(str(error).splitlines()[1])
    sys.exit("cycle exists" in str(error))
