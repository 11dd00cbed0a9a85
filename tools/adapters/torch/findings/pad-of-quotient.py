"""Padding of a quotient of integers says that something was divided by zero when it is compiled (CPU).

The quotient is computed where padding is, too: a load under a mask gives 0 there, and `floor_divide_integral` and
`remainder_integral` in `cpp_prefix.h` look at all lanes. `CppVecOverrides.floordiv` in `_inductor/codegen/cpp.py`
puts 1 in the place of divisors behind the end of a row, and not in the place of those that a mask leaves out.
`z[3:] = x // y` has such a mask, too.
"""

import os
import sys

import torch


def function(x, y):
    return torch.nn.functional.pad(x // y, (3, 2)), torch.nn.functional.pad(x % y, (3, 2))


x, y = torch.arange(40), torch.arange(40) % 7 + 1
eager = function(x, y)
child = os.fork()  # Some versions end by a signal.
if child == 0:
    try:
        compiled = torch.compile(function)(x, y)
        os._exit(any(not torch.equal(one, other) for one, other in zip(eager, compiled)))
    except RuntimeError as error:
        print(error)
        sys.stdout.flush()
        os._exit(1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0)
