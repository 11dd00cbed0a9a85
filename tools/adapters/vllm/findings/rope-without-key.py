"""rotary_embedding without a key, of a part of a split, does not compile.

FixFunctionalizationPass (passes/utility/fix_functionalization.py) asks `is_func(key, operator.getitem)` where key is None;
ScatterSplitReplacementPass does the same.
"""

import sys

import torch
from compiled import compiled, error_of


POSITIONS = torch.arange(3)
ANGLES = torch.arange(3.0)[:, None] * torch.tensor([0.5, 0.25])
CACHE = torch.cat([ANGLES.cos(), ANGLES.sin()], -1)


def function(qkv):
    h = qkv + 1.0
    query, rest = h.split([4, 8], -1)
    torch.ops._C.rotary_embedding(POSITIONS, query, None, 4, CACHE, True)
    return h


message = error_of(compiled(function), torch.ones(3, 12))
print(message or "compiled")
sys.exit(bool(message))
