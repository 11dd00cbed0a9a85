"""Attention layers of different heads: fused with fp8 quantization, a layer gets a result of the first layer's heads.

AttnQuantFusionPass (passes/fusion/attn_quant_fusion.py) registers the pattern of the first layer alone, since it takes
a layer's name for a wildcard ("register once then break"). The pattern compares heads times size; what replaces it has
the first layer's heads, and asks no other layer whether its backend can quantize (fused_output_quant_supported). vLLM
runs it on a GPU with fuse_attn_quant.
"""

import sys
from types import SimpleNamespace

import torch
from compiled import compiled
from vllm.compilation.passes.fusion.attn_quant_fusion import AttnQuantFusionPass
from vllm.config import set_current_vllm_config
from vllm.forward_context import ForwardContext, override_forward_context
from vllm.model_executor.layers.attention.attention import Attention
from vllm.utils.torch_utils import _encode_layer_name

SEEN = []


class Backend:
    """Adds query and value, in the place of attention. It notes what result it is given, and whether it is to quantize."""

    def __init__(self, quantizes):
        self.quantizes = quantizes

    def fused_output_quant_supported(self, key):
        return self.quantizes

    def forward(self, layer, query, key, value, cache, metadata, output, output_scale=None, **others):
        SEEN.append((layer.layer_name, tuple(output.shape), output_scale is not None))
        output.copy_((query + value).view(output.shape).to(output.dtype))


def layer(name, heads, size, quantizes):
    made = Attention.__new__(Attention)
    torch.nn.Module.__init__(made)
    made.layer_name, made.num_heads, made.num_kv_heads, made.head_size = name, heads, heads, size
    made.impl, made.kv_cache = Backend(quantizes), torch.empty(0)
    return made


LAYERS = {
    "first": layer("first", 2, 8, True), "second": layer("second", 4, 4, True), "third": layer("third", 2, 8, False)
}


def passes(config):
    config.model_config = SimpleNamespace(dtype=torch.float32)
    config.compilation_config.static_forward_context = LAYERS
    config.compilation_config.custom_ops = ["none", "+quant_fp8"]
    with set_current_vllm_config(config, check_compile=False):
        made = [AttnQuantFusionPass(config)]
    config.model_config = None
    return made


def attention(query, name):
    output = torch.empty(query.shape)
    torch.ops.vllm.unified_attention_with_output(
        query, query, query, output, _encode_layer_name(name), kv_cache_dummy_dep=None
    )
    flat = output.view(query.shape[0], query.shape[1] * query.shape[2])
    quantized = torch.empty(flat.shape, dtype=torch.float8_e4m3fn)
    torch.ops._C.static_scaled_fp8_quant(quantized, flat, SCALE, (-1, -1))
    return quantized


SCALE = torch.ones(1)
with override_forward_context(ForwardContext(no_compile_layers=LAYERS, attn_metadata=None, slot_mapping={})):
    for name, made in LAYERS.items():
        torch._dynamo.reset()
        call = compiled(lambda query, name=name: attention(query, name), passes=passes)
        call(torch.randn(5, made.num_heads, made.head_size))
is_right = True
for name, shape, quantizes in SEEN:
    print(f"{name}: result {shape}, quantizes: {quantizes}")
    made = LAYERS[name]
    is_right &= shape == (5, made.num_heads, made.head_size) and quantizes <= made.impl.quantizes
sys.exit(not is_right)
