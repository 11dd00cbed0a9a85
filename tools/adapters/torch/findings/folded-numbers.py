"""Two convolutions, each times a number of its own: frozen, both are multiplied by the last number."""

import sys

import torch
import torch._inductor.config


class Convolutions(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Conv2d(2, 3, 1, bias=False)
        self.second = torch.nn.Conv2d(2, 3, 1, bias=False)

    def forward(self, x):
        return self.first(x) * 2.0, self.second(x) * 5.0


torch._inductor.config.freezing = True
module, x = Convolutions().eval(), torch.ones(1, 2, 1, 1)
with torch.no_grad():
    eager, compiled = torch.stack(module(x)), torch.stack(torch.compile(module)(x))
print(eager.flatten(1).tolist(), compiled.flatten(1).tolist(), sep="\n")
sys.exit(not torch.allclose(eager, compiled, atol=1e-4))
