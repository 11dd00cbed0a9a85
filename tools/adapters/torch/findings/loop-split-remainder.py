"""`torch.arange(100) // 30 + x` leaves its last ten elements as memory had them when it is compiled (CPU).

`CppScheduling.try_loop_split` in `_inductor/codegen/cpp.py` makes two loops of one in which an index is divided by a
number above 8, so that the quotient is a loop's own variable. The outer loop has `size // number` steps, so the
elements behind the last whole multiple are never written.
"""

import sys

import torch


def function(x, y):
    return torch.arange(100) // 30 + x, y[:, None].expand(4, 30).reshape(-1)[:100] + x


x, y = torch.zeros(100), torch.tensor([1.0, 2, 3, 4])
used = [torch.full((100,), 7.0) for _ in range(64)]  # What is left unwritten is taken from what was freed.
del used
eager, compiled = function(x, y), torch.compile(function)(x, y)
print([each[85:].tolist() for each in eager], [each[85:].tolist() for each in compiled], sep="\n")
sys.exit(any(not torch.equal(one, other) for one, other in zip(eager, compiled)))
