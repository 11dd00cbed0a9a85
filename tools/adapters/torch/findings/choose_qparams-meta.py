"""Zero points of choose_qparams_per_token: float32 in eager mode, said to be int64 when it is compiled."""

import sys

import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401


def function(x):
    scale, zero_point = torch.ops.quantized_decomposed.choose_qparams_per_token(x, torch.int8)
    return zero_point, zero_point > 0


x = torch.tensor([[0.05], [-0.3]])
eager = function(x)
print([(result.dtype, result.tolist()) for result in eager])
try:
    compiled = torch.compile(function)(x)
except Exception as error:
    print(type(error).__name__, str(error)[:200])
    sys.exit(1)
print([(result.dtype, result.tolist()) for result in compiled])
sys.exit(any(a.dtype != b.dtype or not torch.equal(a, b) for a, b in zip(eager, compiled)))
