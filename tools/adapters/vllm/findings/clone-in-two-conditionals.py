"""A clone that two conditionals read does not compile.

UnsafeCloneEliminationPass (passes/ir/clone_elimination.py) takes every higher-order op for one that writes, and then
asserts that there is one write at most: `assert len(write_idxs) in (0, 1)`.
"""

import sys

import torch
from compiled import compiled, error_of


def function(x, condition):
    copy = x.clone()
    first = torch.cond(condition, lambda t: t + 1.0, lambda t: t - 1.0, (copy,))
    second = torch.cond(condition, lambda t: t * 2.0, lambda t: t * 3.0, (copy,))
    return copy, first, second


message = error_of(compiled(function), torch.ones(3, 4), torch.tensor(True))
print(message or "compiled")
sys.exit(bool(message))
