"""vLLM IR's functional fused_add_rms_norm of views of the arguments overwrites the caller's tensors.

UnsafeCloneEliminationPass (passes/ir/clone_elimination.py) keeps the clone of an input that was not donated
(`original_node.op == "placeholder"`), but not that of a view of one.
"""

import sys

import torch
from compiled import compiled
from vllm import ir


# What vLLM has on a GPU (kernels/vllm_c.py): an implementation that writes its activations.
@ir.ops.fused_add_rms_norm.register_impl("in_place", inplace=True)
def in_place(x: torch.Tensor, x_residual: torch.Tensor, weight: torch.Tensor | None, epsilon: float,
             variance_size: int | None = None) -> tuple[torch.Tensor, torch.Tensor]:
    torch.ops._C.fused_add_rms_norm(x, x_residual, weight, epsilon)
    return x, x_residual


ir.ops.fused_add_rms_norm.set_default(["in_place"])


def function(x, residual, weight):
    return ir.ops.fused_add_rms_norm(x.view(6, 2), residual.view(6, 2), weight, 1e-5)


x, residual = torch.arange(12.0).view(3, 4), torch.ones(3, 4)
before = x.clone()
compiled(function)(x, residual, torch.ones(2))
print(before, x, sep="\n")
sys.exit(not torch.equal(before, x))
