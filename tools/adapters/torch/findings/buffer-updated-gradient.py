"""A buffer that is updated behind its use: the gradient is made of the updated one when it is compiled."""

import sys

import torch


class Counting(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.ones(3))

    def forward(self, x):
        y = (x * (self.count + 1)).sin()
        self.count.add_(1)
        return y


def gradient(compiled):
    module, x = Counting(), torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    (torch.compile(module) if compiled else module)(x).sum().backward()
    return x.grad


eager, compiled = gradient(False), gradient(True)
print(eager.tolist(), compiled.tolist(), sep="\n")
sys.exit(not torch.allclose(eager, compiled))
