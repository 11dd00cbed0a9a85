"""Norm and rotation of query and key overwrite the projection that they are of, which is read later, and the caller's.

QKNormRoPEFusionPass (passes/fusion/qk_norm_rope_fusion.py) makes one op of them, which writes the projection.
FixFunctionalizationPass (passes/utility/fix_functionalization.py) lets it write its argument, whoever else reads that.
vLLM runs it on a GPU with enable_qk_norm_rope_fusion.
"""

import sys
from types import SimpleNamespace

import torch
from compiled import compiled
from vllm import ir
from vllm.compilation.passes.fusion.qk_norm_rope_fusion import QKNormRoPEFusionPass
from vllm.compilation.passes.utility.split_coalescing import SplitCoalescingPass
from vllm.config import set_current_vllm_config
from vllm.model_executor.layers.attention.attention import Attention


def passes(config):
    layer = Attention.__new__(Attention)
    torch.nn.Module.__init__(layer)
    layer.num_heads, layer.num_kv_heads, layer.head_size = 2, 1, 64
    config.model_config = SimpleNamespace(dtype=torch.bfloat16)
    config.compilation_config.static_forward_context = {"layer": layer}
    config.compilation_config.custom_ops = ["none", "+rotary_embedding"]
    with set_current_vllm_config(config, check_compile=False):
        made = [SplitCoalescingPass(config), QKNormRoPEFusionPass(config)]
    config.model_config = None
    return made


def function(qkv, positions, query_weight, key_weight, cache):
    query, key, value = qkv.split([128, 64, 64], -1)
    query = ir.ops.rms_norm(query.view(3, 2, 64), query_weight, 1e-6).view(3, 128)
    key = ir.ops.rms_norm(key.view(3, 1, 64), key_weight, 1e-6).view(3, 64)
    torch.ops._C.rotary_embedding(positions, query, key, 64, cache, True)
    return query, key, value, qkv * 1.0


angles = torch.arange(8.0)[:, None] * torch.linspace(1, 0.1, 32)
cache = torch.cat([angles.cos(), angles.sin()], -1).bfloat16()
qkv = torch.arange(768.0).view(3, 256).bfloat16()
weight = torch.ones(64, dtype=torch.bfloat16)
before = qkv.clone()
eager = function(qkv, torch.arange(3), weight, weight, cache)[3]
got = compiled(function, passes=passes)(qkv, torch.arange(3), weight, weight, cache)[3]
print(eager, got, "the caller's", before, qkv, sep="\n")
sys.exit(not (torch.equal(eager, got) and torch.equal(before, qkv)))
