"""convolution_backward of a bias alone: in bfloat16, a CPU returns the weight's gradient, too.

float32 and fake tensors return None in its place, as output_mask asks for.
"""

import sys

import torch

seen = {}
for dtype in (torch.float32, torch.bfloat16):
    gradients = torch.ops.aten.convolution_backward(
        torch.ones(1, 1, 2, 2, dtype=dtype), torch.ones(1, 1, 3, 3, dtype=dtype),
        torch.ones(1, 1, 2, 2, dtype=dtype), [1], [1, 1], [0, 0], [1, 1], False, [0, 0], 1,
        [False, False, True])
    seen[dtype] = [None if each is None else tuple(each.shape) for each in gradients]
    print(dtype, seen[dtype])
sys.exit(seen[torch.bfloat16][1] is not None)
