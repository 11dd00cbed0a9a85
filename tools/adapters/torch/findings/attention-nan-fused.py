"""Scores that are NaN, or all -inf: softmax says NaN in eager mode. Compiled, it is attention that says 0."""

import sys

import torch


def plain(query, key, value):
    return torch.matmul(query, key.transpose(-2, -1)).div(4.0).softmax(dim=-1).matmul(value)


def masked(query, key, value, mask):
    return ((query @ key.transpose(-2, -1)).div(4.0) + mask).softmax(dim=-1) @ value


torch.manual_seed(0)
query, key, value = (torch.randn(2, 4, 8, 16) for _ in range(3))
mask = torch.zeros(8, 8)
mask[2] = -float("inf")
broken = query.clone()
broken[0, 0, 0, 0] = float("nan")
with torch.no_grad():
    eager = plain(broken, key, value), masked(query, key, value, mask)
    compiled = torch.compile(plain)(broken, key, value), torch.compile(masked)(query, key, value, mask)
counts = [[each.isnan().sum().item() for each in results] for results in (eager, compiled)]
print("NaN in eager mode and compiled:", *counts)
sys.exit(counts[0] != counts[1])
