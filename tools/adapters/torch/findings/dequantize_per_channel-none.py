"""dequantize_per_channel without zero points, which its schema allows: does not compile."""

import sys

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401


def function(x, scales):
    return torch.ops.quantized_decomposed.dequantize_per_channel(x, scales, None, 0, -128, 127, torch.int8)


arguments = torch.tensor([[1, 2], [3, 4]], dtype=torch.int8), torch.tensor([0.5, 2.0])
print(function(*arguments).tolist())
try:
    print(torch.compile(function)(*arguments).tolist())
except torch._inductor.exc.InductorError as error:
    print(str(error).splitlines()[0])
    sys.exit(1)
