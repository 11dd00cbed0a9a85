"""The median of equal numbers that share their memory: 7.0 nine times; PyTorch reads behind the tensor.

Along an expanded dimension, whose stride is 0, the kernel for CPUs takes the elements for neighbours.
"""

import sys

import torch

base = torch.arange(64.0)
x = base[7:8].expand(3, 9)
values = torch.median(x, dim=1).values.tolist()
print(values)
sys.exit(values != [7.0] * 3)
