"""A convolution times a row that is as wide as there are channels: frozen, the row's elements are factors of channels."""

import sys

import torch
import torch._inductor.config


class Convolution(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.convolution = torch.nn.Conv2d(2, 2, 1, bias=False)
        self.row = torch.nn.Parameter(torch.tensor([[1.0, 100.0]]))

    def forward(self, x):
        return self.convolution(x) * self.row


torch._inductor.config.freezing = True
module, x = Convolution().eval(), torch.ones(1, 2, 2, 2)
with torch.no_grad():
    eager, compiled = module(x), torch.compile(module)(x)
print(eager.flatten().tolist(), compiled.flatten().tolist(), sep="\n")
sys.exit(not torch.allclose(eager, compiled, atol=1e-4))
