"""vLLM's compiled ops, in Python, for a machine where its extension is missing.

They are the ops that vLLM's passes name. Names, arguments and defaults are those of the extension
(`_C_stable_libtorch`). What they compute is what vLLM's own code in Python says beside its calls
(vllm/ir/ops, CustomOp.forward_native). They compute in float32, or in float64 where the operand is of
it, and round once where the kernels store.
"""

import torch

_FLOAT8 = torch.float8_e4m3fn

_SCHEMAS = """
rms_norm(Tensor(a!) result, Tensor input, Tensor? weight, float epsilon) -> ()
fused_add_rms_norm(Tensor(a!) input, Tensor(b!) residual, Tensor? weight, float epsilon) -> ()
rms_norm_static_fp8_quant(Tensor(a!) result, Tensor input, Tensor weight, Tensor scale, float epsilon) -> ()
fused_add_rms_norm_static_fp8_quant(Tensor(a!) result, Tensor input, Tensor(b!) residual, Tensor weight, Tensor scale, float epsilon) -> ()
rms_norm_dynamic_per_token_quant(Tensor(a!) result, Tensor input, Tensor weight, Tensor(b!) scale, float epsilon, Tensor? scale_ub, Tensor(c!)? residual) -> ()
silu_and_mul(Tensor(a!) result, Tensor input) -> ()
silu_and_mul_quant(Tensor(a!) result, Tensor input, Tensor scale) -> ()
static_scaled_fp8_quant(Tensor(a!) result, Tensor input, Tensor scale, int[]? group_shape=None) -> ()
dynamic_scaled_fp8_quant(Tensor(a!) result, Tensor input, Tensor(b!) scale) -> ()
dynamic_per_token_scaled_fp8_quant(Tensor(a!) result, Tensor input, Tensor(b!) scale, Tensor? scale_ub) -> ()
rotary_embedding(Tensor positions, Tensor(a!) query, Tensor(b!)? key, int head_size, Tensor cos_sin_cache, bool is_neox, int rope_dim_offset=0, bool inverse=False) -> ()
fused_qk_norm_rope(Tensor(a!) qkv, int num_heads_q, int num_heads_k, int num_heads_v, int head_dim, float eps, Tensor q_weight, Tensor k_weight, Tensor cos_sin_cache, bool is_neox, Tensor position_ids, int forced_token_heads_per_warp=-1) -> ()
""".strip().splitlines()


def _wide(tensor):
    return tensor.double() if tensor.dtype == torch.float64 else tensor.float()


def _normalized(wide, weight, epsilon, dtype):
    """The rows of `wide` by their root mean square, rounded to `dtype`, times the weight."""
    rows = (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + epsilon)).to(dtype)
    return rows if weight is None else rows * weight


def rms_norm(result, input, weight, epsilon):
    result.copy_(_normalized(_wide(input), weight, epsilon, input.dtype))


def fused_add_rms_norm(input, residual, weight, epsilon):
    residual.copy_(_wide(input) + _wide(residual))
    input.copy_(_normalized(_wide(residual), weight, epsilon, input.dtype))


def _quantized(wide, scale, dtype):
    """`wide` / `scale`, within the finite numbers of `dtype`."""
    limits = torch.finfo(dtype)
    return (wide / scale).clamp(limits.min, limits.max).to(dtype)


def rms_norm_static_fp8_quant(result, input, weight, scale, epsilon):
    rows = _normalized(_wide(input), weight, epsilon, input.dtype)
    result.copy_(_quantized(rows.float(), scale, result.dtype))


def fused_add_rms_norm_static_fp8_quant(result, input, residual, weight, scale, epsilon):
    residual.copy_(_wide(input) + _wide(residual))
    rows = _normalized(_wide(residual), weight, epsilon, input.dtype)
    result.copy_(_quantized(rows.float(), scale, result.dtype))


def _row_scales(wide, scale_ub, dtype):
    """One scale a row, so that its greatest number becomes the greatest one of `dtype`."""
    greatest = wide.abs().amax(-1, keepdim=True)
    if scale_ub is not None:
        greatest = torch.minimum(greatest, scale_ub)
    most = torch.finfo(dtype).max if dtype.is_floating_point else torch.iinfo(dtype).max
    least = 1.0 / (most * 512.0) if dtype.is_floating_point else torch.finfo(torch.float32).eps
    return (greatest / most).clamp(min=least)


def _quantized_rows(result, wide, scale, scale_ub):
    scales = _row_scales(wide, scale_ub, result.dtype)
    scale.copy_(scales.reshape(scale.shape))
    if result.dtype.is_floating_point:
        result.copy_(_quantized(wide, scales, result.dtype))
    else:
        limits = torch.iinfo(result.dtype)
        result.copy_((wide / scales).round().clamp(limits.min, limits.max).to(result.dtype))


def rms_norm_dynamic_per_token_quant(result, input, weight, scale, epsilon, scale_ub, residual):
    wide = _wide(input)
    if residual is not None:
        residual.copy_(wide + _wide(residual))
        wide = _wide(residual)
    rows = _normalized(wide, weight, epsilon, input.dtype)
    _quantized_rows(result, rows.float(), scale, scale_ub)


def _gated(input):
    gate, up = input.chunk(2, -1)
    return torch.nn.functional.silu(gate) * up


def silu_and_mul(result, input):
    result.copy_(_gated(input))


def silu_and_mul_quant(result, input, scale):
    result.copy_(_quantized(_gated(input).float(), scale, result.dtype))


def static_scaled_fp8_quant(result, input, scale, group_shape=None):
    if scale.numel() == 1:
        scale = scale.reshape(())
    elif group_shape is not None:
        rows, columns = (
            size if group == -1 else group for group, size in zip(group_shape, input.shape[-2:])
        )
        scale = scale.reshape(-1, input.shape[-1] // columns)
        scale = scale.repeat_interleave(rows, 0).repeat_interleave(columns, 1)
    result.copy_(_quantized(input.float(), scale, result.dtype))


def dynamic_scaled_fp8_quant(result, input, scale):
    scale.copy_((input.float().abs().max() / torch.finfo(result.dtype).max).reshape(scale.shape))
    result.copy_(_quantized(input.float(), scale.reshape(()), result.dtype))


def dynamic_per_token_scaled_fp8_quant(result, input, scale, scale_ub):
    _quantized_rows(result, input.float(), scale, scale_ub)


def _rotate(heads, cos, sin, is_neox):
    """Turns pairs of numbers of `heads` [T, H, R] by angles, cos and sin [T, R / 2]. With neox a pair
    is a number of the first half and one of the second, else two neighbours."""
    cos, sin = (each.unsqueeze(1).to(heads.dtype) for each in (cos, sin))
    if is_neox:
        first, second = heads.chunk(2, -1)
    else:
        first, second = heads[..., ::2], heads[..., 1::2]
    turned = first * cos - second * sin, second * cos + first * sin
    if is_neox:
        return torch.cat(turned, -1)
    return torch.stack(turned, -1).flatten(-2)


def _turn(tensor, positions, head_size, cos_sin_cache, is_neox, offset, inverse):
    """Writes the turned heads of `tensor` [T, H * head_size] or [T, H, head_size] over it."""
    cos, sin = cos_sin_cache.index_select(0, positions.flatten()).chunk(2, -1)
    if inverse:
        sin = -sin
    width = cos_sin_cache.shape[-1]
    heads = tensor.reshape(positions.numel(), -1, head_size).clone()
    part = heads[..., offset : offset + width]
    heads[..., offset : offset + width] = _rotate(part, cos, sin, is_neox)
    tensor.copy_(heads.reshape(tensor.shape))


def rotary_embedding(
    positions, query, key, head_size, cos_sin_cache, is_neox, rope_dim_offset=0, inverse=False
):
    for each in (query, key):
        if each is not None:
            _turn(each, positions, head_size, cos_sin_cache, is_neox, rope_dim_offset, inverse)


def fused_qk_norm_rope(
    qkv, num_heads_q, num_heads_k, num_heads_v, head_dim, eps, q_weight, k_weight, cos_sin_cache,
    is_neox, position_ids, forced_token_heads_per_warp=-1,
):
    start = 0
    for count, weight in ((num_heads_q, q_weight), (num_heads_k, k_weight)):
        part = qkv[..., start : start + count * head_dim]
        heads = part.reshape(-1, count, head_dim)
        part.copy_(_normalized(_wide(heads), weight, eps, qkv.dtype).reshape(part.shape))
        _turn(part, position_ids, head_dim, cos_sin_cache, is_neox, 0, False)
        start += count * head_dim


def _no_result(*args, **kwargs):
    return None


_libraries = []


def names():
    """The ops that are here, as `_C::NAME`."""
    return ["_C::" + each.split("(")[0] for each in _SCHEMAS]


def register():
    """Registers those that no extension has registered, and returns their names."""
    missing = []
    for schema in _SCHEMAS:
        name = schema.split("(")[0]
        if hasattr(torch.ops._C, name):
            continue
        library = torch.library.Library("_C", "FRAGMENT")
        library.define(schema)
        library.impl(name, globals()[name], "CompositeExplicitAutograd")
        torch.library.register_fake("_C::" + name, _no_result, lib=library)
        _libraries.append(library)
        missing.append("_C::" + name)
    return missing
