"""Adaptive maximum pooling with NaN: the value is NaN, and the index is that of another element, compiled."""

import sys

import torch

function = torch.nn.functional.adaptive_max_pool2d
x = torch.arange(25.0).view(1, 5, 5)
x[0, 2, 2] = float("nan")
values, indices = function(x, (3, 3), return_indices=True)
compiled_values, compiled = torch.compile(function)(x, (3, 3), return_indices=True)
print(compiled_values.flatten().tolist(), indices.flatten().tolist(), compiled.flatten().tolist(), sep="\n")
taken = x.flatten()[compiled.flatten()]
print("of these indices:", taken.tolist())
sys.exit(bool((compiled_values.flatten().isnan() & ~taken.isnan()).any()))
