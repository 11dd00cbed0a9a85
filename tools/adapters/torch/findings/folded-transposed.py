"""A transposed convolution times a factor for each channel: frozen, the factors are those of the channels that come in."""

import sys

import torch
import torch._inductor.config


class Convolution(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.transposed = torch.nn.ConvTranspose2d(2, 2, 1, bias=False)
        self.factors = torch.nn.Parameter(torch.tensor([1.0, 100.0]).view(2, 1, 1))

    def forward(self, x):
        return self.transposed(x) * self.factors


torch._inductor.config.freezing = True
module, x = Convolution().eval(), torch.ones(1, 2, 1, 1)
with torch.no_grad():
    eager, compiled = module(x), torch.compile(module)(x)
print(eager.flatten().tolist(), compiled.flatten().tolist(), sep="\n")
sys.exit(not torch.allclose(eager, compiled, atol=1e-4))
