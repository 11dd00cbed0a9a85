"""A choice by weights that are normalized along columns is another one when it is compiled.

`apply_gumbel_max_trick` in `_inductor/fx_passes/apply_gumbel_max_trick.py` puts `argmax(logits - log(noise), -1)` in the
place of `argmax(softmax(logits, dim) / noise, -1)`, whatever `dim` is. That is the same along the last dimension alone.
Here a column that is 100 above the others has the same weights as they, and is chosen 500 times of 2000 in eager mode.
"""

import sys

import torch


def function(x):
    noise = torch.empty_like(x).exponential_(1)
    return torch.argmax(torch.nn.functional.softmax(x, dim=0) / noise, dim=-1, keepdim=True)


torch.manual_seed(0)
x = torch.randn(2000, 4) + torch.tensor([100.0, 0, 0, 0])
eager, compiled = function(x), torch.compile(function)(x)
counts = [each.flatten().bincount(minlength=4).tolist() for each in (eager, compiled)]
print(*counts, sep="\n")
sys.exit(counts[1][0] > 1000)
