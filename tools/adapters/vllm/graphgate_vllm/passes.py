"""A compiler of vLLM's pieces that ends after the passes: what they leave is run node by node."""

import copy

import torch
from torch._inductor import compile_fx

import vllm.compilation.backends
from vllm.compilation.compiler_interface import CompilerInterface
from vllm.env_override import _apply_constrain_to_fx_strides_patch

from graphgate_torch import graph_passes


class PassesAdaptor(CompilerInterface):
    """A compiler of pieces, as vLLM's InductorAdaptor calls Inductor, that ends after the passes."""

    name = "passes"

    def compile(self, graph, example_inputs, compiler_config, compile_range, key=None):
        _apply_constrain_to_fx_strides_patch()
        # The pieces' fake tensors are not those of the mode that Dynamo traces in.
        context = torch._guards.TracingContext.try_get()
        torch._guards._TLS.tracing_context = None
        try:
            with torch._functorch.config.patch(enable_autograd_cache=False):
                compiled = compile_fx.compile_fx(
                    copy.deepcopy(graph), example_inputs, inner_compile=graph_passes.end_before_lowering,
                    config_patches=dict(compiler_config),
                )
        finally:
            torch._guards._TLS.tracing_context = context
        return compiled, None


def use():
    """Has vLLM compile pieces so, in this process, where it would by Inductor."""
    vllm.compilation.backends.make_compiler = lambda config, **named: PassesAdaptor()
