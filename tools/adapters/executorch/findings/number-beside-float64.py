"""A number that meets float64 has the digits of float32: x * 0.1 is 1.5e-8 of itself off.

ScalarToTensorPass (exir/passes/scalar_to_tensor_pass.py) makes a tensor of the number, and asks for no dtype:
it is float32, whatever it meets. The kernels then compute in float64 with what is left of it.
"""

import sys

import torch
from lowered import lowered


class Module(torch.nn.Module):
    def forward(self, x):
        return x * 0.1, x + 0.1


x = torch.tensor([1.0, 3.0], dtype=torch.float64)
expected, got = Module()(x), lowered(Module(), (x,))(x)
print(expected, got, sep="\n")
sys.exit(not all(torch.allclose(a, b, rtol=1e-12, atol=0) for a, b in zip(got, expected, strict=True)))
