"""expm1 of 1e-9: 1e-09 in eager mode, 0.0 compiled for a CPU with vector units."""

import torch

x = torch.full((16,), 1e-9)
print(torch.expm1(x)[0].item())
print(torch.compile(torch.expm1)(x)[0].item())
