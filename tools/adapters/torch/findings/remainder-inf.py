"""The remainder of infinities, on a GPU: nan in eager mode, inf compiled."""

import sys

import torch

x = torch.full((2,), torch.inf, device="cuda")
eager = torch.remainder(x, x)
compiled = torch.compile(torch.remainder)(x, x)
print(eager[0].item(), compiled[0].item(), sep="\n")
sys.exit(not torch.isnan(compiled).all())
