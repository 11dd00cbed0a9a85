"""The rotated projection is split at other places than before: vLLM returns the parts of the first split.

ScatterSplitReplacementPass (passes/utility/scatter_split_replace.py) compares neither sizes nor dimension of the two splits.
vLLM runs it on a GPU, with fuse_rope_kvcache or fuse_qk_norm_rope_kvcache.
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


def function(qkv):
    h = qkv + 1.0
    query, key, value = h.split([4, 4, 4], -1)
    torch.ops._C.rotary_embedding(POSITIONS, query, key, 4, CACHE, True)
    first, second, third = h.split([6, 4, 2], -1)
    return first * 1.0, second * 1.0, third * 1.0


x = torch.arange(36.0).view(3, 12)
eager = function(x)
got = compiled(function, passes=passes)(x)
print(*(part.shape for part in eager), *(part.shape for part in got), sep="\n")
sys.exit(not all(a.shape == b.shape and torch.allclose(a, b) for a, b in zip(eager, got)))
