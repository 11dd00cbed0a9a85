"""Pieces that are run node by node after vLLM's passes, and Inductor's, have been over them.

Nothing is lowered: no kernel is generated, compiled or rounded in another way, so what goes wrong is of
the passes, and a case takes a part of the time. Only Inductor's last pass is left out, which makes
in-place ops: these are as its kernels mean them, and PyTorch refuses some (over memory that overlaps).
"""

import copy
from unittest import mock

import torch
from torch._inductor import compile_fx
from torch._inductor.fx_passes import post_grad
from torch._inductor.virtualized import V

import vllm.compilation.backends
from vllm.compilation.compiler_interface import CompilerInterface
from vllm.env_override import _apply_constrain_to_fx_strides_patch


def _inner(graph, inputs, **named):
    """What Inductor does with a graph before it lowers it; returns what runs the result."""
    compile_fx.view_to_reshape(graph)
    with torch.no_grad():
        fake_mode = compile_fx.fake_tensor_prop(graph, inputs)
    values = graph.graph.output_node().args[0]
    wanted = [_strides(node.meta.get("val") if hasattr(node, "meta") else None) for node in values]
    unchanged = mock.patch.object(post_grad, "reinplace_inplaceable_ops", lambda *words: None)
    with V.set_fake_mode(fake_mode), unchanged:
        compile_fx._recursive_post_grad_passes(graph, is_inference=True)
    graph.recompile()

    def run(args):
        held = {t.untyped_storage().data_ptr() for t in args if isinstance(t, torch.Tensor)}
        results = graph(*args)
        return [_with_strides(each, w, held) for each, w in zip(results, wanted, strict=True)]

    run._boxed_call = True
    return run


def _strides(value):
    """The strides of a traced result where they are numbers, else None."""
    if not isinstance(value, torch.Tensor) or value.layout is not torch.strided:
        return None
    strides = value.stride()
    return strides if all(isinstance(each, int) for each in strides) else None


def _with_strides(result, strides, held):
    """The result as Inductor returns it: with the strides that were traced before the passes."""
    if strides is None or not isinstance(result, torch.Tensor) or result.stride() == strides:
        return result
    if result.untyped_storage().data_ptr() in held:
        return result  # of an input's memory
    made = torch.empty_strided(result.size(), strides, dtype=result.dtype, device=result.device)
    return made.copy_(result)


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
                    copy.deepcopy(graph), example_inputs, inner_compile=_inner,
                    config_patches=dict(compiler_config),
                )
        finally:
            torch._guards._TLS.tracing_context = context
        return compiled, None


def use():
    """Has vLLM compile pieces so, in this process, where it would by Inductor."""
    vllm.compilation.backends.make_compiler = lambda config, **named: PassesAdaptor()
