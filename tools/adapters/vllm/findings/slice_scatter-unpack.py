"""slice_scatter without an end does not compile: the arguments that have a default are not in the graph.

NoOpEliminationPass (passes/utility/noop_elimination.py): `base, view, dim_index, start, end = node.args[:5]`.
"""

import sys

import torch
from compiled import compiled, error_of

function = compiled(lambda x, y: torch.slice_scatter(x, y, 0, 1))
message = error_of(function, torch.zeros(3, 4), torch.ones(2, 4))
print(message or "compiled")
sys.exit(bool(message))
