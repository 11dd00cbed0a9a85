"""A batch norm of the second of three dimensions behind `linear`: fused, it norms the last one."""

import sys

import torch
import torch._inductor.config


class Norm(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(2, 2, bias=False)
        self.norm = torch.nn.BatchNorm1d(2)
        self.norm.running_var.copy_(torch.tensor([1.0, 10000.0]))

    def forward(self, x):
        return self.norm(self.linear(x))


torch._inductor.config.efficient_conv_bn_eval_fx_passes = True
module, x = Norm().eval(), torch.ones(1, 2, 2)
with torch.no_grad():
    eager, compiled = module(x), torch.compile(module)(x)
print(eager.tolist(), compiled.tolist(), sep="\n")
sys.exit(not torch.allclose(eager, compiled, atol=1e-4))
