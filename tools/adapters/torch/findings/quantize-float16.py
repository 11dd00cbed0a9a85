"""quantize_per_tensor of float16, which eager mode takes as it takes bfloat16: does not compile."""

import sys

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401


def function(x):
    return torch.ops.quantized_decomposed.quantize_per_tensor(x, 0.1, 3, 0, 255, torch.uint8)


x = torch.tensor([1.0, 2.0], dtype=torch.float16)
print(function(x).tolist())
try:
    print(torch.compile(function)(x).tolist())
except torch._inductor.exc.InductorError as error:
    print(str(error).splitlines()[0])
    sys.exit(1)
