"""vLLM IR's functional fused_add_rms_norm of one value, twice: the norm comes back in the place of the sum.

UnsafeCloneEliminationPass (passes/ir/clone_elimination.py) looks at one clone at a time: each has its write, and no
reader of the value is behind it. So it drops both clones, and input and residual are one buffer.
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


def function(x, weight):
    h = x * 2.0
    return ir.ops.fused_add_rms_norm(h, h, weight, 1e-5)[1]


arguments = torch.arange(12.0).view(3, 4), torch.ones(4)
eager, got = function(*arguments), compiled(function)(*arguments)
print(eager, got, sep="\n")
sys.exit(not torch.allclose(eager, got))
