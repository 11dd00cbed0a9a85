"""Numbers that are quantized into 16 bits by tensors and back: the kernel of vectors refuses the type, and nothing compiles (CPU)."""

import sys

import torch
import torch.ao.quantization.fx._decomposed


def function(x, scale, zero):
    q = torch.ops.quantized_decomposed.quantize_per_tensor.tensor(x, scale, zero, -8, 7, torch.int16)
    return torch.ops.quantized_decomposed.dequantize_per_tensor.tensor(q, scale, zero, -8, 7, torch.int16)


arguments = torch.arange(6.0), torch.tensor([1.0]), torch.tensor([5])
print(function(*arguments).tolist())
try:
    print(torch.compile(function)(*arguments).tolist())
    failed = False
except Exception as error:
    print(type(error).__name__, str(error)[:150])
    failed = True
sys.exit(failed)
