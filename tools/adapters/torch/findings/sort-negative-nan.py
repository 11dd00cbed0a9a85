"""Where a stable sort of float64 puts a NaN with a sign, on a GPU in eager mode: behind the numbers."""

import sys

import torch

x = -torch.tensor([torch.nan, 1.0, 2.0], dtype=torch.float64)
on_cpu, on_gpu = (
    torch.sort(y, stable=True, descending=True).values.tolist() for y in (x, x.cuda())
)
print(on_cpu, on_gpu, sep="\n")
sys.exit(on_cpu[0] == on_cpu[0] or on_gpu[0] == on_gpu[0])
