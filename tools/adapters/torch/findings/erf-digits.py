"""erf of 1e-7: 1.128e-07 in eager mode, 0.0 compiled for a CPU with vector units."""

import sys

import torch

x = torch.full((16,), 1e-7)
eager = torch.erf(x)[0].item()
compiled = torch.compile(torch.erf)(x)[0].item()
print(eager, compiled, sep="\n")
sys.exit(compiled == 0)
