"""softmax into a transposed `out`, on a GPU, in eager mode, too: other values than without `out`."""

import sys

import torch

x = torch.arange(12.0, device="cuda").view(4, 3).sin()
out = torch.zeros(3, 4, device="cuda").t()
torch.ops.aten._softmax.out(x, 1, False, out=out)
right = torch.ops.aten._softmax.default(x, 1, False)
print((out - right).abs().max().item())
sys.exit(not torch.allclose(out, right))
