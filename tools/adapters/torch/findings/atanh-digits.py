"""`atanh` of small numbers is 0, and has few digits beside, when it is compiled (CPU, vectorized).

`CppVecOverrides.atanh` in `_inductor/codegen/cpp.py` is `0.5 * log((1 + x) / (1 - x))`, where x is lost beside 1.
"""

import sys

import torch

x = torch.tensor([1e-8, -2e-9, 1e-6, 1e-4] * 8)
eager, compiled = torch.atanh(x), torch.compile(torch.atanh)(x)
print(eager[:4].tolist(), compiled[:4].tolist(), sep="\n")
sys.exit(not torch.allclose(eager, compiled, rtol=1e-3, atol=0))
