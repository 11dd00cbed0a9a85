"""A float32 residual plus a bfloat16 branch before rms_norm: sum and norm come back as bfloat16.

AddRMSNormFusionPass (passes/fusion/add_rms_fusion.py) puts fused_add_rms_norm(branch, residual) there, whose results
have the dtype of its first argument, and compares no dtypes. vLLM runs it on a GPU, for models of the Transformers
backend.
"""

import sys

import torch
from compiled import compiled
from vllm import ir
from vllm.compilation.passes.fusion.add_rms_fusion import AddRMSNormFusionPass


def function(branch, residual, weight):
    h = residual + branch
    return ir.ops.rms_norm(h, weight, 1e-5), h


arguments = torch.ones(3, 4, dtype=torch.bfloat16), torch.full((3, 4), 1 / 3), torch.ones(4)
eager = function(*arguments)
got = compiled(function, passes=lambda config: [AddRMSNormFusionPass(config)])(*arguments)
print(eager[1], got[1], sep="\n")
sys.exit(not all(a.dtype == b.dtype and torch.allclose(a, b) for a, b in zip(eager, got)))
