"""A size that is given by keyword does not compile.

_decompose_size_nodes (compilation/backends.py) replaces the size among positional arguments alone, and then erases it.
"""

import sys

import torch
from compiled import compiled, error_of

function = compiled(lambda x: torch.zeros(size=x.size()) + x, pieces="eager", dynamic=True)
message = error_of(function, torch.ones(3, 4))
print(message or "compiled")
sys.exit(bool(message))
