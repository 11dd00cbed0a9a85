"""Flex attention of a projection that is viewed as heads, on a CPU: it does not compile, and eager mode runs it."""

import sys

import torch
from torch.nn.attention.flex_attention import flex_attention


def function(x, weights):
    query, key, value = ((x @ weight).view(1, 16, 2, 16).transpose(1, 2) for weight in weights)
    return flex_attention(query, key, value)


x, weights = torch.ones(1, 16, 32), torch.zeros(3, 32, 32)
with torch.no_grad():
    print(function(x, weights).sum().item())
    try:
        print(torch.compile(function)(x, weights).sum().item())
    except Exception as error:  # of the lowering
        print(str(error).splitlines()[0])
        sys.exit(1)
