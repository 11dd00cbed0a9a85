"""fused_add_rms_norm reads an input whose last stride is not 1 as if it were. It needs a GPU.

The kernel takes the stride between rows, and nothing checks the one within them
(csrc/libtorch_stable/layernorm_kernels.cu). rms_norm beside it checks it.
"""

import sys

import torch
import vllm._C_stable_libtorch  # noqa: F401 (registers the ops)

x = torch.arange(24.0, device="cuda").view(3, 8) / 8
weight = torch.ones(8, device="cuda")
expected, sum_of_both = x.clone(), x.clone()
torch.ops._C.fused_add_rms_norm(expected, sum_of_both, weight, 1e-5)

got, residual = x.t().contiguous().t(), x.clone()
torch.ops._C.fused_add_rms_norm(got, residual, weight, 1e-5)
print(got, expected, sep="\n")
sys.exit(not (torch.allclose(got, expected) and torch.allclose(residual, sum_of_both)))
