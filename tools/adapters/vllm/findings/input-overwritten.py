"""A norm in place on a clone of an argument: vLLM overwrites the caller's tensor.

As in clone-before-norm.py: nothing asks whether what FixFunctionalizationPass writes in place is the graph's input.
"""

import sys

import torch
from compiled import compiled


def function(x, residual, weight):
    a, b = x.clone(), residual.clone()
    torch.ops._C.fused_add_rms_norm(a, b, weight, 1e-5)
    return a, b


x, residual = torch.arange(12.0).view(3, 4), torch.ones(3, 4)
before = x.clone()
compiled(function)(x, residual, torch.ones(4))
print(before, x, sep="\n")
sys.exit(not torch.equal(before, x))
