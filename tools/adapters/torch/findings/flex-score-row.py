"""Flex attention whose score is that of the key's position alone, on a CPU: compiled, the first query of each block has it, and
others keep the product of query and key."""

import sys

import torch
from torch.nn.attention.flex_attention import flex_attention


def function(query, key, value, scores):
    return flex_attention(query, key, value, score_mod=lambda score, b, h, q, k: scores[k])


torch.manual_seed(0)
query, key, value = torch.randn(3, 1, 1, 4, 16)
scores = torch.randn(4)
with torch.no_grad():
    eager, compiled = function(query, key, value, scores), torch.compile(function)(query, key, value, scores)
print(*(result[0, 0, :, 0].tolist() for result in (eager, compiled)), sep="\n")
sys.exit(not torch.allclose(eager, compiled, atol=1e-3))
