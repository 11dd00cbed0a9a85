"""The absolute value of the lowest int16 is that number itself, and 32768 when it is compiled (CPU).

`CppOverrides.abs` in `_inductor/codegen/cpp.py` is `std::abs`, which gives an int, and the name that it is stored under
is `auto`. So a comparison, or a cast to a wider type, sees what int16 does not hold. Kernels of int16 are never vectorized.
"""

import sys

import torch


def function(x):
    return x.abs().int(), x.abs() > 0


x = torch.tensor([-32768, -1, 5], dtype=torch.int16)
eager, compiled = function(x), torch.compile(function)(x)
print([each.tolist() for each in eager], [each.tolist() for each in compiled], sep="\n")
sys.exit(any(not torch.equal(one, other) for one, other in zip(eager, compiled)))
