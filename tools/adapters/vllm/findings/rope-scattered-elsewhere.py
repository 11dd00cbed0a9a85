"""Rotated heads that go into another tensor: vLLM returns the projection that they were taken from.

FixFunctionalizationPass (passes/utility/fix_functionalization.py) takes every slice_scatter of what rotary_embedding wrote
for the way back into the split tensor, and compares neither where to nor at which place:
`user_of_getitem.replace_all_uses_with(mm_node)`.
"""

import sys

import torch
from compiled import compiled


POSITIONS = torch.arange(3)
ANGLES = torch.arange(3.0)[:, None] * torch.tensor([0.5, 0.25])
CACHE = torch.cat([ANGLES.cos(), ANGLES.sin()], -1)


def function(qkv, cache):
    query, key, value = (qkv + 1.0).split([3, 3, 3], 0)
    query, key = query.clone(), key.clone()
    torch.ops._C.rotary_embedding(POSITIONS, query, key, 4, CACHE, True)
    cache = cache + 0.0
    return torch.slice_scatter(cache, query, 0, 0, 3), torch.slice_scatter(cache, key, 0, 3, 6)


arguments = torch.arange(36.0).view(9, 4), torch.zeros(6, 4)
eager = function(*arguments)
got = compiled(function)(*arguments)
print(eager[0], got[0], sep="\n")
sys.exit(not all(a.shape == b.shape and torch.allclose(a, b) for a, b in zip(eager, got)))
