"""Strides of a product whose operands Inductor pads on a GPU: (3, 1) in eager mode, (4, 1) compiled."""

import sys

import torch
from torch._inductor import config

config.force_shape_pad = True  # else it depends on what padding takes, measured
x, y = torch.ones(2, 8, device="cuda"), torch.ones(8, 3, device="cuda")
eager, compiled = torch.mm(x, y).stride(), torch.compile(torch.mm)(x, y).stride()
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
