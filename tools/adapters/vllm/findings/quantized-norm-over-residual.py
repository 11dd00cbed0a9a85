"""vLLM IR's functional fused_add_rms_norm before fp8 quantization overwrites its residual, and the caller's tensor.

RMSNormQuantFusionPass (passes/fusion/rms_quant_fusion.py) makes one op of both, which writes its residual.
FixFunctionalizationPass (passes/utility/fix_functionalization.py) then lets it write the argument, whoever else reads
that. vLLM runs both on a GPU with fuse_norm_quant.
"""

import sys

import torch
from compiled import compiled
from vllm import ir
from vllm.compilation.passes.fusion.rms_quant_fusion import RMSNormQuantFusionPass


def passes(config):
    config.compilation_config.custom_ops = ["none", "+quant_fp8"]
    return [RMSNormQuantFusionPass(config)]


def function(x, residual, weight, scale):
    normed, added = ir.ops.fused_add_rms_norm(x, residual, weight, 1e-5)
    quantized = torch.empty(normed.shape, dtype=torch.float8_e4m3fn)
    torch.ops._C.static_scaled_fp8_quant(quantized, normed, scale, (-1, -1))
    return quantized, added, residual + 1.0


arguments = torch.arange(12.0).view(3, 4), torch.ones(3, 4), torch.ones(4), torch.ones(1)
before = arguments[1].clone()
eager = function(*arguments)[2]
got = compiled(function, passes=passes)(*arguments)[2]
print(eager, got, "the caller's", before, arguments[1], sep="\n")
sys.exit(not (torch.equal(eager, got) and torch.equal(before, arguments[1])))
