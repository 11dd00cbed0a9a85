"""Attention of a query that is NaN, on a CPU: nan by its formula, 0.0 by its kernel and compiled."""

import sys

import torch


def function(q, k):
    return torch.nn.functional.scaled_dot_product_attention(q, k, k)


q, k = torch.full((1, 1, 1, 4), torch.nan), torch.ones(1, 1, 2, 4)
formula = torch.softmax(q @ k.mT / 2, -1) @ k
eager, compiled = function(q, k), torch.compile(function)(q, k)
print(formula[0, 0, 0, 0].item(), eager[0, 0, 0, 0].item(), compiled[0, 0, 0, 0].item())
sys.exit(not torch.isnan(compiled).all())
