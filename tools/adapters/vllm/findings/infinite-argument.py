"""A split op with an infinite argument: the code that vLLM writes around the pieces names `inf`, which is no name.

_node_ref (compilation/codegen.py) returns repr() of floats; those of infinity and NaN are no Python.
"""

import sys

import torch
from compiled import compiled, error_of


def function(x, mask):
    return torch.ops.aten.masked_fill(x + 1.0, mask, float("-inf")) * 2.0


call = compiled(function, split=["aten::masked_fill"], pieces="eager")
message = error_of(call, torch.zeros(3), torch.tensor([True, False, True]))
print(message or "compiled")
sys.exit(bool(message))
