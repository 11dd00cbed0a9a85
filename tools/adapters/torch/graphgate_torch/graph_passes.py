"""Graphs that are run node by node after Inductor's passes have been over them.

Nothing is lowered: no kernel is generated, compiled or rounded in another way, so what goes wrong is of
decompositions and passes, and a case takes a part of the time. Only Inductor's last pass is left out,
which makes in-place ops: these are as its kernels mean them, and PyTorch refuses some (over memory that
overlaps).
"""

from unittest import mock

import torch
from torch._inductor import compile_fx
from torch._inductor.fx_passes import post_grad
from torch._inductor.virtualized import V

from graphgate_adapter.module import Unsupported


def _refuse_lowerings(graph):
    """Raises Unsupported where a pass put one of Inductor's lowerings in the place of nodes."""
    for module in graph.modules():  # conditionals and loops have graphs of their own
        for node in module.graph.nodes if isinstance(module, torch.fx.GraphModule) else ():
            if node.op == "call_function" and hasattr(node.target, "_inductor_lowering_function"):
                raise Unsupported(f"a pass of Inductor leaves {node.name} to a lowering, which eager mode can't run")


def end_before_lowering(graph, inputs, **named):
    """Does with a graph what Inductor does before it lowers it, in the place of compile_fx_inner.

    Returns what runs the result node by node. Raises Unsupported where eager mode cannot.
    """
    compile_fx.view_to_reshape(graph)
    with torch.no_grad():
        fake_mode = compile_fx.fake_tensor_prop(graph, inputs)
    values = graph.graph.output_node().args[0]
    wanted = [_strides(node.meta.get("val") if hasattr(node, "meta") else None) for node in values]
    unchanged = mock.patch.object(post_grad, "reinplace_inplaceable_ops", lambda *words: None)
    with V.set_fake_mode(fake_mode), unchanged:
        compile_fx._recursive_post_grad_passes(graph, is_inference=True)
    _refuse_lowerings(graph)
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
