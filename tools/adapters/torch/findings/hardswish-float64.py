"""hardswish in float64, on a GPU in eager mode: a sixth that is a float32."""

import sys

import torch

x = torch.tensor([1.0], dtype=torch.float64)
on_cpu, on_gpu = torch.nn.functional.hardswish(x), torch.nn.functional.hardswish(x.cuda())
print(on_cpu.item(), on_gpu.item(), sep="\n")
sys.exit(abs(on_cpu.item() - on_gpu.item()) > 1e-12)
