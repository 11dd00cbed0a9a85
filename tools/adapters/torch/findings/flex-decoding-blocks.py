"""Flex attention of one query to many keys, with a block mask that has partial blocks alone, on a CPU: C++ that does not
compile."""

import sys

import torch
from torch.nn.attention.flex_attention import BlockMask, flex_attention


def function(query, key, value, mask):
    return flex_attention(query, key, value, block_mask=mask)


count, indices = torch.full((1, 1, 1), 4, dtype=torch.int32), torch.arange(4, dtype=torch.int32).view(1, 1, 1, 4)
mask = BlockMask.from_kv_blocks(count, indices, BLOCK_SIZE=128, mask_mod=lambda b, h, q, k: k < 500, seq_lengths=(1, 512))
query, key, value = torch.ones(1, 1, 1, 16), torch.ones(1, 1, 512, 16), torch.arange(8192.0).view(1, 1, 512, 16)
with torch.no_grad():
    eager = function(query, key, value, mask)
    print(eager.flatten()[:4].tolist())
    try:
        compiled = torch.compile(function)(query, key, value, mask)
    except Exception as error:  # of the C++ compiler
        print(next(line for line in str(error).splitlines() if "error:" in line))
        sys.exit(1)
print(compiled.flatten()[:4].tolist())
sys.exit(not torch.allclose(eager, compiled, atol=1e-3))
