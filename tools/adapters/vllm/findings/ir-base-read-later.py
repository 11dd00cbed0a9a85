"""vLLM IR's functional fused_add_rms_norm of a view: what reads the view's base later reads what the norm wrote.

UnsafeCloneEliminationPass (passes/ir/clone_elimination.py) looks for later users of the view, not of its base or of other
views of it.
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
    h = x * 2.0
    normed, added = ir.ops.fused_add_rms_norm(h.view(6, 2), residual, weight, 1e-5)
    return normed, added, h + 1.0


arguments = torch.arange(12.0).view(3, 4), torch.ones(6, 2), torch.ones(2)
eager = function(*arguments)[2]
got = compiled(function)(*arguments)[2]
print(eager, got, sep="\n")
sys.exit(not torch.allclose(eager, got))
