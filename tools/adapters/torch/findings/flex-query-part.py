"""Flex attention of a part of a tensor, as of the last position, on a CPU: compiled, it takes the elements with which the
tensor begins."""

import sys

import torch
from torch.nn.attention.flex_attention import flex_attention


def function(query, key, value):
    return flex_attention(query[:, :, 3:], key, value)


torch.manual_seed(0)
query, key, value = torch.randn(3, 1, 1, 4, 16)
with torch.no_grad():
    eager, compiled = function(query, key, value), torch.compile(function)(query, key, value)
    first = flex_attention(query, key, value)
print(*(result.flatten()[:4].tolist() for result in (eager, compiled, first)), sep="\n")
sys.exit(not torch.allclose(eager, compiled, atol=1e-3))
