"""expm1 of 1e-9: 1e-09 in eager mode, 0.0 compiled for a CPU with vector units."""

import sys

import torch

x = torch.full((16,), 1e-9)
eager = torch.expm1(x)[0].item()
compiled = torch.compile(torch.expm1)(x)[0].item()
print(eager, compiled, sep="\n")
sys.exit(compiled == 0)
