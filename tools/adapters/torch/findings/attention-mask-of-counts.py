"""Attention that hides what a mask of whole numbers has as 0: compiled, it hides what is not 1."""

import sys

import torch


def function(query, key, value, mask):
    query, key, value = (each.permute(0, 2, 1, 3) for each in (query, key, value))
    scores = (query @ key.transpose(-2, -1)).div(4.0)
    hidden = (mask == 0).view(2, 1, 1, 8).expand_as(scores)
    return torch.softmax(scores.masked_fill(hidden, -float("inf")), dim=-1) @ value


torch.manual_seed(0)
arguments = [torch.randn(2, 8, 4, 16) for _ in range(3)]
segments = torch.tensor([[1, 1, 1, 2, 2, 2, 2, 0], [1, 1, 1, 1, 2, 2, 3, 3]])
with torch.no_grad():
    eager, compiled = function(*arguments, segments), torch.compile(function)(*arguments, segments)
    ones = torch.compile(function)(*arguments, (segments == 1).long())
print("largest difference:", (eager - compiled).abs().max().item())
print("from what a mask of 1 and 0 gives:", (ones - compiled).abs().max().item())
sys.exit(not torch.allclose(eager, compiled, atol=1e-5))
