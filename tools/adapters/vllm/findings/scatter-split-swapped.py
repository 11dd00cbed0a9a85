"""The key stands before the query in the projection: vLLM returns one in the place of the other.

ScatterSplitReplacementPass (passes/utility/scatter_split_replace.py) takes the first part for the query and the second for
the key. vLLM runs it on a GPU, with fuse_rope_kvcache or fuse_qk_norm_rope_kvcache.
"""

import sys

import torch
from compiled import compiled
from vllm.compilation.passes.utility.scatter_split_replace import ScatterSplitReplacementPass
from vllm.compilation.passes.utility.split_coalescing import SplitCoalescingPass


def passes(config):
    return [SplitCoalescingPass(config), ScatterSplitReplacementPass(config)]


POSITIONS = torch.arange(3)
ANGLES = torch.arange(3.0)[:, None] * torch.tensor([0.5, 0.25])
CACHE = torch.cat([ANGLES.cos(), ANGLES.sin()], -1)


def function(kqv):
    h = kqv + 1.0
    key, query, value = h.split([4, 4, 4], -1)
    torch.ops._C.rotary_embedding(POSITIONS, query, key, 4, CACHE, True)
    return key * 1.0, query * 1.0, value * 1.0


x = torch.arange(36.0).view(3, 12)
eager = function(x)
got = compiled(function, passes=passes)(x)
print(eager[0], got[0], sep="\n")
sys.exit(not all(torch.allclose(a, b) for a, b in zip(eager, got)))
