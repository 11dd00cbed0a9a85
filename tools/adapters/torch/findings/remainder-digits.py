"""1e8 % 3: 1.0 in eager mode, 0.0 compiled for a CPU with vector units."""

import torch


def function(x):
    return torch.remainder(x, 3.0)


print(function(torch.full((16,), 1e8))[0].item())
print(torch.compile(function)(torch.full((16,), 1e8))[0].item())
