"""A number is added before rms_norm: vLLM's fusion takes it for the residual, and the graph does not compile.

AddRMSNormFusionPass (passes/fusion/add_rms_fusion.py) registers its pattern without a check that both operands are tensors.
vLLM runs it on a GPU, for models of the Transformers backend.
"""

import sys

import torch
from compiled import compiled, error_of
from vllm import ir
from vllm.compilation.passes.fusion.add_rms_fusion import AddRMSNormFusionPass


def function(x, weight):
    h = x + 1.5
    return ir.ops.rms_norm(h, weight, 1e-5), h


call = compiled(function, passes=lambda config: [AddRMSNormFusionPass(config)])
message = error_of(call, torch.ones(3, 4), torch.ones(4))
print(message or "compiled")
sys.exit(bool(message))
