"""Quantization of positive numbers: the range includes zero in eager mode, and does not compiled."""

import sys

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401


def function(x):
    return torch.ops.quantized_decomposed.choose_qparams.tensor(x, -128, 127, 1e-5, torch.int8)


x = torch.tensor([1.0, 2.0])
eager, compiled = function(x), torch.compile(function)(x)
print([each.item() for each in eager], [each.item() for each in compiled], sep="\n")
sys.exit(not all(map(torch.equal, eager, compiled)))
