"""A batch of products with a weight that is a part of a larger tensor, frozen, with `max_autotune`: the weight that is packed
has the elements with which the larger tensor begins."""

import sys

import torch
import torch._inductor.config as config


class Product(torch.nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = torch.nn.Parameter(weight)

    def forward(self, x):
        return torch.bmm(x, self.weight)


config.freezing, config.max_autotune, config.max_autotune_gemm_backends = True, True, "CPP"
torch.manual_seed(0)
weights, x = torch.randn(2, 4, 32, 32), torch.randn(4, 16, 32)
module = Product(weights[1]).eval()
with torch.no_grad():
    eager, compiled, first = module(x), torch.compile(module)(x), torch.bmm(x, weights[0])
print(*(result.flatten()[:4].tolist() for result in (eager, compiled, first)), sep="\n")
sys.exit(not torch.allclose(eager, compiled, atol=1e-3))
