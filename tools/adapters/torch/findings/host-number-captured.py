"""A number that is computed on the host and read by a kernel, with CUDA graphs: the second call raises."""

import sys

import torch


def function(x, steps):
    return x * steps.sum()


compiled = torch.compile(function, mode="reduce-overhead")
x = torch.ones(4, device="cuda")
try:
    for step in range(1, 5):
        steps = torch.full((2,), float(step))
        result, expected = compiled(x, steps).clone(), function(x, steps)
        print(result, expected)
        if not torch.equal(result, expected):
            sys.exit(1)
except RuntimeError as error:
    print(error)
    sys.exit(1)
