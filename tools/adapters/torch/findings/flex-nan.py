"""Flex attention of a query that is NaN, on a CPU: the result is 0 when it is compiled, and NaN in eager mode."""

import sys

import torch
from torch.nn.attention.flex_attention import flex_attention

query, key, value = torch.full((1, 1, 4, 16), torch.nan), torch.ones(1, 1, 4, 16), torch.ones(1, 1, 4, 16)
with torch.no_grad():
    eager, compiled = flex_attention(query, key, value), torch.compile(flex_attention)(query, key, value)
print(eager.flatten()[:4].tolist(), compiled.flatten()[:4].tolist(), sep="\n")
sys.exit(not torch.equal(eager.isnan(), compiled.isnan()))
