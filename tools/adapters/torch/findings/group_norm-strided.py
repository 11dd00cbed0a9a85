"""native_group_norm with a strided weight, on a GPU in eager mode: other values than with a copy."""

import sys

import torch

x = torch.arange(24.0, device="cuda").view(2, 4, 3).sin()
weight = torch.arange(8.0, device="cuda")[::2]
wrong, right = (
    torch.ops.aten.native_group_norm.default(x, w, None, 2, 4, 3, 2, 1e-5)[0]
    for w in (weight, weight.contiguous())
)
print((wrong - right).abs().max().item())
sys.exit(not torch.allclose(wrong, right))
