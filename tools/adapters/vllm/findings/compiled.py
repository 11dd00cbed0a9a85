"""vLLM's compiler around a function, on a CPU: what the scripts beside this file share, and need besides vLLM.

    compiled(function, split=["aten::mm"], pieces="eager")

compiles as vLLM does with mode VLLM_COMPILE. The CPU platform lowers the mode, so it is set again behind it; passes that
look for what only a GPU's build has are off.
"""

import dataclasses
import os

os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
os.environ["VLLM_TARGET_DEVICE"] = "cpu"
os.environ["VLLM_DISABLE_COMPILE_CACHE"] = "1"

import torch
from vllm.compilation.backends import VllmBackend
from vllm.config import CompilationConfig, CompilationMode, CUDAGraphMode, VllmConfig, set_current_vllm_config

# vLLM's ops whose compiled bodies the CPU build lacks: their rows, and what they compute.
ROWS = {
    "dynamic_per_token_scaled_fp8_quant": "(Tensor(a!) result, Tensor input, Tensor(b!) scale, Tensor? scale_ub) -> ()",
    "dynamic_scaled_fp8_quant": "(Tensor(a!) result, Tensor input, Tensor(b!) scale) -> ()",
    "fused_add_rms_norm": "(Tensor(a!) input, Tensor(b!) residual, Tensor? weight, float epsilon) -> ()",
    "fused_add_rms_norm_static_fp8_quant": "(Tensor(a!) result, Tensor input, Tensor(b!) residual, Tensor weight, "
                                           "Tensor scale, float epsilon) -> ()",
    "fused_qk_norm_rope": "(Tensor(a!) qkv, int num_heads_q, int num_heads_k, int num_heads_v, int head_dim, float eps, "
                          "Tensor q_weight, Tensor k_weight, Tensor cos_sin_cache, bool is_neox, Tensor position_ids, "
                          "int forced_token_heads_per_warp=-1) -> ()",
    "per_token_group_fp8_quant": "(Tensor input, Tensor(a!) output_q, Tensor(b!) output_s, int group_size, float eps, "
                                 "float fp8_min, float fp8_max, bool scale_ue8m0, bool dummy_is_scale_transposed, "
                                 "bool dummy_is_tma_aligned) -> ()",
    "rms_norm": "(Tensor(a!) result, Tensor input, Tensor? weight, float epsilon) -> ()",
    "rms_norm_dynamic_per_token_quant": "(Tensor(a!) result, Tensor input, Tensor weight, Tensor(b!) scale, "
                                        "float epsilon, Tensor? scale_ub, Tensor(c!)? residual) -> ()",
    "rms_norm_per_block_quant": "(Tensor(a!) result, Tensor input, Tensor weight, Tensor(b!) scale, float epsilon, "
                                "Tensor? scale_ub, Tensor(c!)? residual, int group_size, bool is_scale_transposed) -> ()",
    "rms_norm_static_fp8_quant": "(Tensor(a!) result, Tensor input, Tensor weight, Tensor scale, float epsilon) -> ()",
    "rotary_embedding": "(Tensor positions, Tensor(a!) query, Tensor(b!)? key, int head_size, Tensor cos_sin_cache, "
                        "bool is_neox, int rope_dim_offset=0, bool inverse=False) -> ()",
    "silu_and_mul": "(Tensor(a!) result, Tensor input) -> ()",
    "silu_and_mul_quant": "(Tensor(a!) result, Tensor input, Tensor scale) -> ()",
    "static_scaled_fp8_quant": "(Tensor(a!) result, Tensor input, Tensor scale, int[]? group_shape=None) -> ()",
}


def normalized(x, weight, epsilon):
    y = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon)
    return y if weight is None else y * weight


def fused_add_rms_norm(input, residual, weight, epsilon):
    residual.add_(input)
    input.copy_(normalized(residual, weight, epsilon))


def fused_add_rms_norm_static_fp8_quant(result, input, residual, weight, scale, epsilon):
    residual.add_(input)
    static_scaled_fp8_quant(result, normalized(residual, weight, epsilon), scale)


def fused_qk_norm_rope(qkv, num_heads_q, num_heads_k, num_heads_v, head_dim, eps, q_weight, k_weight, cos_sin_cache, is_neox,
                       position_ids, forced_token_heads_per_warp=-1):
    """Writes norms of query and key, turned in the style of GPT-NeoX, into the projection."""
    query, key, _ = qkv.split([heads * head_dim for heads in (num_heads_q, num_heads_k, num_heads_v)], -1)
    for part, weight in ((query, q_weight), (key, k_weight)):
        heads = part.unflatten(-1, (-1, head_dim))
        heads.copy_(normalized(heads.float(), weight.float(), eps))
    rotary_embedding(position_ids, query, key, head_dim, cos_sin_cache, is_neox)


def rms_norm(result, input, weight, epsilon):
    result.copy_(normalized(input, weight, epsilon))


def silu_and_mul(result, input):
    gate, up = input.chunk(2, -1)
    result.copy_(torch.nn.functional.silu(gate) * up)


def rotary_embedding(positions, query, key, head_size, cache, is_neox, rope_dim_offset=0, inverse=False):
    """Turns each head by the angles of its position, in the style of GPT-NeoX."""
    cos, sin = (part.repeat(1, 2) for part in cache[positions].chunk(2, -1))
    for heads in (query, key):
        if heads is not None:
            view = heads.unflatten(-1, (-1, head_size))
            first, second = view.chunk(2, -1)
            turned = torch.cat([-second, first], -1)
            view.copy_(view * cos[:, None] + turned * sin[:, None])


def static_scaled_fp8_quant(result, input, scale, group_shape=None):
    limits = torch.finfo(result.dtype)
    result.copy_((input / scale).clamp(limits.min, limits.max).to(result.dtype))


_library = torch.library.Library("_C", "FRAGMENT")
for _name, _row in ROWS.items():
    if not hasattr(torch.ops._C, _name):
        _library.define(_name + _row)
        _library.impl(_name, lambda *arguments, **options: None, "Meta")
        if _name in globals():
            _library.impl(_name, globals()[_name], "CompositeExplicitAutograd")


def configuration(split, pieces, **settings):
    """Returns a VllmConfig. `pieces`: who compiles them, "inductor" or "eager". `settings`: of CompilationConfig."""
    config = VllmConfig(compilation_config=CompilationConfig(backend=pieces, splitting_ops=list(split)))
    values = {"mode": CompilationMode.VLLM_COMPILE, "backend": pieces, "splitting_ops": list(split),
              "cudagraph_mode": CUDAGraphMode.NONE, "compile_sizes": [], **settings}
    for name, value in values.items():
        setattr(config.compilation_config, name, value)
    switches = config.compilation_config.pass_config
    for field in dataclasses.fields(switches):
        if field.name.startswith(("fuse_", "enable_")) and isinstance(getattr(switches, field.name), (bool, type(None))):
            object.__setattr__(switches, field.name, False)
    return config


def compiled(function, split=(), pieces="inductor", dynamic=None, passes=None, **settings):
    """Returns the function compiled by vLLM. `passes(config)`: what its pass manager has on a GPU, run first."""

    def backend(graph, inputs):
        config = configuration(split, pieces, **settings)
        with set_current_vllm_config(config):
            made = VllmBackend(config)
            if passes is not None:
                made.pass_manager.passes += passes(config)
            return made(graph, inputs)

    return torch.compile(function, backend=backend, dynamic=dynamic, fullgraph=True)


def error_of(call, *arguments):
    """Returns "ValueError: text" of what the call raises (the innermost cause), or ""."""
    try:
        call(*arguments)
    except Exception as error:
        cause = error
        while inner := cause.__cause__ or getattr(cause, "inner_exception", None):
            cause = inner
        return f"{type(cause).__name__}: {str(cause).splitlines()[0] if str(cause) else ''}"
    return ""
