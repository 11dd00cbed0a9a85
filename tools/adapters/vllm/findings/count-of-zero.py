"""A count that data decide, of 0, is taken for a batch of 0 tokens, for which vLLM has no graph.

PiecewiseBackend (compilation/piecewise_backend.py) chooses a piece's graph by its first symbolic argument, whatever that
counts, and its ranges begin with 1.
"""

import sys

import torch
from compiled import compiled, error_of

torch._dynamo.config.capture_dynamic_output_shape_ops = True


@torch.library.custom_op("mylib::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@double.register_fake
def _(x):
    return torch.empty_like(x)


def function(x):
    places = x.nonzero()
    h = double(x)
    return places + 1, h


call = compiled(function, split=["mylib::double"], pieces="eager")
message = error_of(call, torch.ones(4)) or error_of(call, torch.zeros(4))
print(message or "ran")
sys.exit(bool(message))
