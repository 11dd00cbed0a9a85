"""native_batch_norm_backward with a strided weight, on a CPU in eager mode: other values than with a copy."""

import sys

import torch

x = torch.arange(16.0).view(4, 4).sin()
gradient = torch.arange(16.0).view(4, 4).cos()
mean, deviation = x.mean(0), x.var(0).rsqrt()
weight = torch.arange(8.0)[::2]
wrong, right = (
    torch.ops.aten.native_batch_norm_backward.default(
        gradient, x, w, None, None, mean, deviation, True, 1e-5, [True, True, True]
    )[0]
    for w in (weight, weight.contiguous())
)
print((wrong - right).abs().max().item())
sys.exit(not torch.allclose(wrong, right))
