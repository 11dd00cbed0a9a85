"""A scale without dimensions and a zero point with one do not compile: the one is read as the other lies."""

import sys

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  (registers the op)


def function(x, scale, zero_point):
    return torch.ops.quantized_decomposed.dequantize_per_tensor.tensor(x, scale, zero_point, -128, 127, torch.int8)


arguments = torch.tensor([3, 1], dtype=torch.int8), torch.tensor(0.5), torch.tensor([1])
print(function(*arguments))
try:
    print(torch.compile(function)(*arguments))
except Exception as error:  # noqa: BLE001
    print(f"{type(error).__name__}: {str(error).splitlines()[0]}")
    sys.exit(1)
