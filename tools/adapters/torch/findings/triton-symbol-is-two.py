"""A Triton kernel that branches on a size, on a GPU: where sizes are symbols, it is taken to write what it writes for 2."""

import sys

import torch
import triton
import triton.language as tl


@triton.jit
def fill_by_size(a, b, size, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    if size > 100:
        tl.store(b + offsets, 5.0 + tl.zeros([BLOCK], tl.float32), mask=offsets < size)
    else:
        tl.store(a + offsets, 5.0 + tl.zeros([BLOCK], tl.float32), mask=offsets < size)


def function(x):
    a, b = torch.zeros_like(x), torch.zeros_like(x)
    fill_by_size[(1,)](a, b, x.numel(), BLOCK=1024)
    return a + 1, b + 1


compiled = torch.compile(function, dynamic=True)
seen = False
for size in 1000, 50:
    argument = torch.ones(size, device="cuda")
    eager, again = function(argument), compiled(argument)
    print(size, [x[0].item() for x in eager], [x[0].item() for x in again])
    seen |= any(not torch.equal(a, b) for a, b in zip(eager, again))
sys.exit(seen)
