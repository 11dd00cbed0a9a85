"""Two inputs of different sizes: with compile_sizes, vLLM compiles for both being as large as the first one.

create_concrete_args (compilation/piecewise_backend.py) puts the one size in the place of every symbol: `expr.subs({s:
size for s in expr.free_symbols})`. Nothing compares the second when it runs.
"""

import sys

import torch
from compiled import compiled


def function(x, y):
    return (x * 2).sum(0) + (y + 1).sum(0)


call = compiled(function, compile_sizes=[6])
base = torch.full((6, 4), 1000.0)
x, y = torch.ones(6, 4), base[:3].fill_(1.0)
torch._dynamo.mark_dynamic(x, 0)
torch._dynamo.mark_dynamic(y, 0)
eager, got = function(x, y), call(x, y)
print(eager, got, sep="\n")
sys.exit(not torch.equal(eager, got))
