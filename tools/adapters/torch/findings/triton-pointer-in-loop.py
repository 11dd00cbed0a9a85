"""A Triton kernel that swaps two pointers in a loop, on a GPU: what it writes to the second tensor is not seen when it is compiled."""

import sys

import torch
import triton
import triton.language as tl


@triton.jit
def fill_by_turns(a, b, steps, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    to, other = a, b
    for step in range(0, steps):
        tl.store(to + offsets, step + 1.0 + tl.zeros([BLOCK], tl.float32))
        swapped = to
        to = other
        other = swapped


def function(x):
    a, b = torch.zeros_like(x), torch.zeros_like(x)
    fill_by_turns[(1,)](a, b, 2, BLOCK=64)
    return a + 1, b + 1


argument = torch.ones(64, device="cuda")
eager, compiled = function(argument), torch.compile(function)(argument)
print([x[0].item() for x in eager], [x[0].item() for x in compiled])
sys.exit(any(not torch.equal(a, b) for a, b in zip(eager, compiled)))
