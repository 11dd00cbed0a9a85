"""Bessel and Airy functions in float64: seven digits in place of sixteen.

PyTorch's denominators are Cephes's, of which the leading coefficient is 1 and stands in no table:
Cephes evaluates them with p1evl, which adds it. PyTorch evaluates what the table has.
J0(5.1) and Ai(-2.1) are sums of their power series (DLMF 10.2.2, 9.4.1) in 60 digits.
"""

import sys

import torch

LIMIT = 1e-12
worst = 0.0
for function, x, exact in (
    (torch.special.bessel_j0, 5.1, -0.14433474706050065),
    (torch.special.airy_ai, -2.1, 0.16348451299929267),
):
    value = function(torch.tensor([x], dtype=torch.float64)).item()
    worst = max(worst, abs(value - exact))
    print(f"{function.__name__}({x}) = {value!r}, exactly {exact!r}")
sys.exit(worst > LIMIT)
