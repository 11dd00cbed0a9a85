"""The value part of a rotated projection is not read: the graph does not compile.

ScatterSplitReplacementPass (passes/utility/scatter_split_replace.py) takes it for granted that all three parts are read:
`split_getitem_users[2]`. vLLM runs it on a GPU, with fuse_rope_kvcache or fuse_qk_norm_rope_kvcache.
"""

import sys

import torch
from compiled import compiled, error_of
from vllm.compilation.passes.utility.scatter_split_replace import ScatterSplitReplacementPass
from vllm.compilation.passes.utility.split_coalescing import SplitCoalescingPass


def passes(config):
    return [SplitCoalescingPass(config), ScatterSplitReplacementPass(config)]


POSITIONS = torch.arange(3)
ANGLES = torch.arange(3.0)[:, None] * torch.tensor([0.5, 0.25])
CACHE = torch.cat([ANGLES.cos(), ANGLES.sin()], -1)


def function(qkv):
    h = qkv + 1.0
    query, key, value = h.split([4, 4, 4], -1)
    torch.ops._C.rotary_embedding(POSITIONS, query, key, 4, CACHE, True)
    return query * 1.0, key * 1.0


message = error_of(compiled(function, passes=passes), torch.ones(3, 12))
print(message or "compiled")
sys.exit(bool(message))
