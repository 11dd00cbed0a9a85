"""Registers the custom ops that exported programs may hold, so that torch.export.load accepts them.

Call register() before loading an archive. Each op has an eager implementation in the tensors' own
dtype (every tensor operation rounds once), and a fake one that gives result shapes. They define what
the ops mean; they are not meant to be fast.
"""

import importlib.util
import math

import torch

_SCHEMAS = {
    "vllm": [
        "unified_attention_with_output(Tensor query, Tensor key, Tensor value, Tensor(a!) output, "
        "str layer_name) -> ()",
        "fused_add_rms_norm(Tensor(a!) input, Tensor(b!) residual, Tensor weight, float epsilon) "
        "-> ()",
        "silu_and_mul(Tensor(a!) out, Tensor input) -> ()",
    ],
    "transformers": [
        "grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor",
    ],
}


def unified_attention_with_output(query, key, value, output, layer_name):
    """Causal softmax attention over all tokens. query, output [T, H, D]; key, value [T, Hkv, D].

    Query head h reads key and value head h / (H / Hkv). `layer_name` is not used: no cache.
    """
    tokens, heads, depth = query.shape
    group = heads // key.shape[1]
    keys = key.repeat_interleave(group, dim=1).transpose(0, 1)
    values = value.repeat_interleave(group, dim=1).transpose(0, 1)
    scores = torch.matmul(query.transpose(0, 1), keys.transpose(1, 2)) / math.sqrt(depth)
    future = torch.ones(tokens, tokens, dtype=torch.bool, device=query.device).triu(1)
    weights = torch.softmax(scores.masked_fill(future, float("-inf")), dim=-1)
    output.copy_(torch.matmul(weights, values).transpose(0, 1))


def fused_add_rms_norm(input, residual, weight, epsilon):
    """residual += input; input = residual * rsqrt(mean(residual^2) + epsilon) * weight."""
    residual.add_(input)
    mean_square = residual.pow(2).mean(dim=-1, keepdim=True)
    input.copy_(residual * torch.rsqrt(mean_square + epsilon) * weight)


def silu_and_mul(out, input):
    """out = silu(input[..., :d]) * input[..., d:], input [..., 2d]."""
    half = input.shape[-1] // 2
    out.copy_(torch.nn.functional.silu(input[..., :half]) * input[..., half:])


def grouped_mm_fallback(input, weight, offs):
    """Rows offs[g-1]..offs[g] of input [M, K] times weight[g], weight [G, K, N] -> [M, N]."""
    result = input.new_zeros(input.shape[0], weight.shape[2])
    start = 0
    for group, end in enumerate(offs.tolist()):
        result[start:end] = input[start:end] @ weight[group]
        start = end
    return result


def _no_result(*args):
    return None


def _grouped_mm_shape(input, weight, offs):
    return input.new_empty(input.shape[0], weight.shape[2])


_EAGER = {
    "vllm::unified_attention_with_output": (unified_attention_with_output, _no_result),
    "vllm::fused_add_rms_norm": (fused_add_rms_norm, _no_result),
    "vllm::silu_and_mul": (silu_and_mul, _no_result),
    "transformers::grouped_mm_fallback": (grouped_mm_fallback, _grouped_mm_shape),
}

_LIBRARIES = []


def _is_installed(package):
    found = importlib.util.find_spec(package)
    return found is not None and found.origin is not None  # a mere folder has none


def register(beside_owners=False):
    """Registers every op that no other package has registered. Harmless when called again.

    `beside_owners`: leaves the ops of packages that can be imported to those, which register them
    when they are, and fail where somebody else has.
    """
    if _LIBRARIES:
        return
    for namespace, schemas in _SCHEMAS.items():
        if beside_owners and _is_installed(namespace):
            continue
        library = torch.library.Library(namespace, "FRAGMENT")
        _LIBRARIES.append(library)
        for schema in schemas:
            name = f"{namespace}::{schema.split('(')[0]}"
            if torch._C._dispatch_has_kernel(name):
                continue
            eager, fake = _EAGER[name]
            library.define(schema)
            library.impl(schema.split("(")[0], eager, "CompositeExplicitAutograd")
            torch.library.register_fake(name, fake, lib=library)
