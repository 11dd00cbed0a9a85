"""A functional norm overwrites its argument, since another piece has the same norm with an argument to give away.

VllmIRInplaceFunctionalizationPass (passes/ir/inplace_functionalization.py) makes one op of maybe_inplace and of the
functional overload, and tells what was donated in PassContext alone. PostGradPassManager.uuid (passes/pass_manager.py)
leaves that out, so that Inductor's cache of compiled graphs takes both pieces for one. So it is with
VLLM_DISABLE_COMPILE_CACHE=1, which compiled.py sets, or with VLLM_USE_MEGA_AOT_ARTIFACT=0; else vLLM has Inductor keep
its graphs otherwise.
"""

import os
import sys
import tempfile

os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.mkdtemp()

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


@torch.library.custom_op("mylib::double", mutates_args=())
def double(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@double.register_fake
def _(x):
    return torch.empty_like(x)


def function(x, weight):
    h = x * 2.0
    first, added = ir.ops.fused_add_rms_norm.maybe_inplace(double(x), h, weight, 1e-5)
    second, sum_ = ir.ops.fused_add_rms_norm(double(first), added, weight, 1e-5)
    return second, sum_, added


arguments = torch.arange(12.0).view(3, 4), torch.ones(4)
eager = function(*arguments)[2]
got = compiled(function, split=["mylib::double"])(*arguments)[2]
print(eager, got, sep="\n")
sys.exit(not torch.allclose(eager, got))
