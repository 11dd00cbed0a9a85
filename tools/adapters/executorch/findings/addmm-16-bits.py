"""addmm of float16: 2048 ones added to 2048 are 2048, and products of 90000 and -90000 are NaN. Eager mode has 4096 and 0.

The portable kernel (kernels/portable/cpu/op_addmm.cpp) adds up in the dtype of its operands. That of mm has a wider sum.
"""

import sys

import torch
from lowered import lowered


class Product(torch.nn.Module):
    def forward(self, bias, x, y):
        return torch.addmm(bias, x, y), torch.mm(x, y)


def operands(row, column):
    return torch.zeros(1, 1, dtype=torch.float16), torch.tensor([row]).half(), torch.tensor(column).half().reshape(-1, 1)


found = False
for row, column in (([2048.0] + [1.0] * 2048, [1.0] * 2049), ([300.0, 300.0], [300.0, -300.0])):
    given = operands(row, column)
    (eager, _), (got, of_mm) = Product()(*given), lowered(Product(), given)(*given)
    print(eager.item(), got.item(), of_mm.item())
    found |= not torch.equal(eager, got)
sys.exit(found)
