"""A projection of four parts, of which the first and third are rotated, does not compile.

ScatterSplitReplacementPass (passes/utility/scatter_split_replace.py) redirects three parts and erases the split, whatever
else reads it. vLLM runs it on a GPU, with fuse_rope_kvcache or fuse_qk_norm_rope_kvcache.
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


def function(qkvg):
    h = qkvg + 1.0
    query, key, value, gate = h.split([4, 4, 4, 4], -1)
    torch.ops._C.rotary_embedding(POSITIONS, query, key, 4, CACHE, True)
    return query * 1.0, key * 1.0, value * 1.0, gate * 1.0


message = error_of(compiled(function, passes=passes), torch.ones(3, 16))
print(message or "compiled")
sys.exit(bool(message))
