"""Quantized numbers: [6, 5, 7] with a limit of 7 in eager mode; compiled (CPU), neither rounded nor limited."""

import sys

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  registers the op


def function(x, scale, zero_point):
    return torch.ops.quantized_decomposed.quantize_per_tensor.tensor(
        x, scale, zero_point, -8, 7, torch.int16
    )


arguments = torch.tensor([0.75, -0.25, 100.0]), torch.tensor([1.0]), torch.tensor([5])
eager = function(*arguments).tolist()
compiled = torch.compile(function)(*arguments).tolist()
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
