"""A Triton kernel that chooses a pointer in an `if` which may return, on a GPU: what it writes is not seen when it is compiled."""

import sys

import torch
import triton
import triton.language as tl


@triton.jit
def fill_one(a, b, choice, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    which = tl.load(choice)
    to = a
    if which == 3:
        to = b
    elif which == 4:
        return
    tl.store(to + offsets, 5.0 + tl.zeros([BLOCK], tl.float32))


def function(x, choice):
    a, b = torch.zeros_like(x), torch.zeros_like(x)
    fill_one[(1,)](a, b, choice, BLOCK=64)
    return a + 1, b + 1


arguments = torch.ones(64, device="cuda"), torch.tensor([3], device="cuda")
eager, compiled = function(*arguments), torch.compile(function)(*arguments)
print([x[0].item() for x in eager], [x[0].item() for x in compiled])
sys.exit(any(not torch.equal(a, b) for a, b in zip(eager, compiled)))
