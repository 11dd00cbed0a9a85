"""fused_add_rms_norm of tensors that broadcast, and its norm is flattened: wrong shapes and values.

FusedAddRMSNormReshapePattern (passes/fusion/add_rms_fusion.py) flattens both operands first, each by its own sizes, and
gives the sum the shape of the first. vLLM runs it on a GPU, for models of the Transformers backend.
"""

import sys

import torch
from compiled import compiled
from vllm import ir
from vllm.compilation.passes.fusion.add_rms_fusion import RMSNormReshapeFusionPass


def function(x, residual, weight):
    normed, added = ir.ops.fused_add_rms_norm(x, residual, weight, 1e-5)
    return normed.reshape(-1, 4), added


arguments = torch.arange(12.0).view(1, 3, 4), torch.arange(12.0).view(3, 1, 4), torch.ones(4)
eager = function(*arguments)
got = compiled(function, passes=lambda config: [RMSNormReshapeFusionPass(config)])(*arguments)
print(*(part.shape for part in eager), *(part.shape for part in got), sep="\n")
sys.exit(not all(a.shape == b.shape and torch.allclose(a, b) for a, b in zip(eager, got)))
