"""Flex attention of many queries of one head, which are transposed, to keys that are not, on a CPU: compiled, it computes the
first query alone, as if one were decoded."""

import sys

import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention


def function(query, key, value, mask):
    return flex_attention(query.transpose(1, 2), key, value, block_mask=mask)


torch.manual_seed(0)
mask = create_block_mask(lambda b, h, q, k: q >= k, None, None, 512, 512, device="cpu")
query, key, value = torch.randn(1, 512, 1, 16), torch.randn(1, 1, 512, 16), torch.randn(1, 1, 512, 16)
with torch.no_grad():
    eager, compiled = function(query, key, value, mask), torch.compile(function)(query, key, value, mask)
rows = torch.isclose(eager, compiled, atol=1e-3).all(-1).sum().item()
print(f"{rows} of 512 rows are right")
sys.exit(rows != 512)
