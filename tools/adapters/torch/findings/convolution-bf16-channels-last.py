"""bfloat16, channels last: a convolution whose kernel covers the image is off by as much as its result.

SegFormer shrinks keys and values so: 8 channels, a kernel of 8 by 8, a stride of 8. The same numbers
in rows of channels are convolved rightly.
"""

import sys

import torch
from torch.nn import functional as F

torch.manual_seed(0)
image = torch.randn(2, 8, 8, 8, dtype=torch.bfloat16)
weight = torch.randn(8, 8, 8, 8, dtype=torch.bfloat16) * 0.1
exact = F.conv2d(image.double(), weight.double(), stride=8)


def error(x):
    return (F.conv2d(x, weight, stride=8).double() - exact).abs().max().item()


dense = error(image)
last = error(image.contiguous(memory_format=torch.channels_last))
print(f"largest result {exact.abs().max().item():.3}, error {dense:.3} dense, {last:.3} channels last")
sys.exit(last > 0.1)
