"""What graph text's ops of vLLM are in vLLM: ops of its extension, and its attention."""

import contextlib

import torch

from graphgate_adapter import module, ops


class _Attention:
    """A layer that vLLM's attention op looks up: it has no cache, and is its own implementation."""

    kv_cache = torch.empty(0)

    def __init__(self, name):
        self._name = name
        self.layer_name = name
        self.impl = self

    def forward(
        self, layer, query, key, value, kv_cache, attn_metadata, output, output_scale=None,
        output_block_scale=None,
    ):
        ops.unified_attention_with_output(query, key, value, output, self._name)
        return output

    def prepare_kv_cache_update(self, attn_metadata):
        """Has no cache to prepare."""


class _Layers(dict):
    """A layer of every name that a program may say."""

    def __missing__(self, name):
        self[name] = _Attention(name)
        return self[name]


@contextlib.contextmanager
def forward_context(mode, batch=None):
    """While it is entered, vLLM's ops and graph wrappers find what its model runner tells them.

    `mode`: the CUDAGraphMode to run in; `batch`: the BatchDescriptor of the call.
    """
    from vllm.forward_context import ForwardContext, override_forward_context

    context = ForwardContext(
        no_compile_layers=_Layers(), attn_metadata={}, slot_mapping={},
        cudagraph_runtime_mode=mode, batch_descriptor=batch,
    )
    context.attn_metadata = None  # as in a profiling run: the layer needs none
    with override_forward_context(context):
        yield


def _named(renamed):
    """Names arguments as vLLM does, also in auto_functionalized_v2, whose names begin with theirs."""

    def arguments(args, kwargs):
        made = {}
        for name, value in kwargs.items():
            for text, here in renamed.items():
                if name == text:
                    name = here
                elif name.startswith(f"_{text}_"):
                    name = f"_{here}_" + name.removeprefix(f"_{text}_")
            made[name] = value
        return args, made

    return arguments


def _with_block_scale(args, kwargs):
    """Says that vLLM's further operand to write, which graph text's op has not, is None: wrapped calls
    name every operand that is written."""
    if args and args[0] is torch.ops.vllm.unified_attention_with_output.default:
        by_base = "_output_base_index" in kwargs
        name = "_output_block_scale_base_index" if by_base else "output_block_scale"
        kwargs = {name: None} | kwargs
    return args, kwargs


def register():
    """Has modules call vLLM's ops where graph text names them."""
    import vllm.model_executor.layers.attention  # noqa: F401 (registers the attention ops)

    attention = torch.ops.vllm.unified_attention_with_output.default
    module.know_otherwise(
        "vllm.unified_attention_with_output.default", attention, _with_block_scale
    )
    compiled = torch.ops._C
    module.know_otherwise("vllm.fused_add_rms_norm.default", compiled.fused_add_rms_norm.default)
    module.know_otherwise(
        "vllm.silu_and_mul.default", compiled.silu_and_mul.default, _named({"out": "result"})
    )


# Ops of graph text by the names that vLLM's lists of splitting ops have for them.
SPLIT_NAMES = {
    "vllm::fused_add_rms_norm": "_C::fused_add_rms_norm",
    "vllm::silu_and_mul": "_C::silu_and_mul",
}


def split_names(name):
    """An op of a case's `split-op`, NS.OP or NS.OP.OVERLOAD, as vLLM names it: it knows `aten::mul` as
    another op than `aten::mul.Tensor`, so that one without an overload is all that it has."""
    name = name.replace(".", "::", 1)
    op, dot, overload = name.partition(".")
    op = SPLIT_NAMES.get(op, op)
    if dot:
        return [op + dot + overload]
    namespace, _, word = op.partition("::")
    packet = getattr(getattr(torch.ops, namespace), word, None)
    overloads = packet.overloads() if isinstance(packet, torch._ops.OpOverloadPacket) else []
    return [op, *(f"{op}.{each}" for each in overloads if each != "default")]
