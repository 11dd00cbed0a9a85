"""`argmax` of a matrix plus a transposed one is another index when it is compiled (CPU).

Both dimensions are reduced and lie contiguous in one of the two, so that tiles of 16 by 16 are read. Lanes of a vector
are then elements of one column. `CppVecKernel.reduction` in `_inductor/codegen/cpp.py` takes every reduction for one
along a row (`horizontal_reduction`), so `create_index` in `cpp_prefix.h` counts lanes by 1 and not by the row's length.
"""

import sys

import torch


def function(x, y):
    z = x + y.t()
    return z.argmax(), z.argmin()


torch.manual_seed(0)
x, y = torch.randn(32, 48), torch.randn(48, 32)
eager, compiled = function(x, y), torch.compile(function)(x, y)
print([each.item() for each in eager], [each.item() for each in compiled], sep="\n")
sys.exit(any(not torch.equal(one, other) for one, other in zip(eager, compiled)))
