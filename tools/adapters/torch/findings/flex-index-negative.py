"""Flex attention whose scores take a bias at a negative index, on a GPU: compiled, it reads before the tensor."""

import sys

import torch
from torch.nn.attention.flex_attention import flex_attention

bias = torch.arange(4.0, device="cuda")


def score(value, batch, head, row, column):
    return torch.where(column == 0, value + bias[head - 4] * 5, value)


def function(q, k, v):
    return flex_attention(q, k, v, score_mod=score)


torch.manual_seed(0)
arguments = [torch.randn(1, 4, 128, 64, device="cuda") for _ in range(3)]
eager = function(*arguments)
try:
    compiled = torch.compile(function)(*arguments)
    print((eager - compiled).abs().amax((0, 2, 3)).tolist())
    sys.exit(not torch.allclose(eager, compiled, atol=2e-2))
except RuntimeError as error:
    print(str(error).splitlines()[0])
    sys.exit(1)
