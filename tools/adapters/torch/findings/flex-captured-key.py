"""Flex attention whose score is changed by an element of the key itself, on a CPU: C++ that does not compile."""

import sys

import torch
from torch.nn.attention.flex_attention import flex_attention


def function(query, key, value):
    return flex_attention(query, key, value, score_mod=lambda score, b, h, q, k: score + key[b, h, k, 0])


torch.manual_seed(0)
query, key, value = torch.randn(3, 1, 1, 4, 16)
with torch.no_grad():
    eager = function(query, key, value)
    print(eager.flatten()[:4].tolist())
    try:
        compiled = torch.compile(function)(query, key, value)
    except Exception as error:  # of the C++ compiler
        print(next(line for line in str(error).splitlines() if "error:" in line))
        sys.exit(1)
print(compiled.flatten()[:4].tolist())
sys.exit(not torch.allclose(eager, compiled, atol=1e-3))
