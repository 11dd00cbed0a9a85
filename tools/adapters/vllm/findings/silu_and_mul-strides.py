"""silu_and_mul writes beside a result that is not contiguous, and reads an operand so. It needs a GPU.

The kernel takes both for rows that follow one another, and nothing checks that
(csrc/libtorch_stable/activation_kernels.cu). rms_norm checks it.
"""

import sys

import torch
import vllm._C_stable_libtorch  # noqa: F401 (registers the ops)

x = torch.arange(24.0, device="cuda").view(3, 8) / 8
expected = torch.nn.functional.silu(x[:, :4]) * x[:, 4:]

base = torch.zeros(3, 8, device="cuda")
torch.ops._C.silu_and_mul(base[:, 4:], x)
print("the result", base[:, 4:], "beside it, to be zeros", base[:, :4], sep="\n")

got = torch.empty(3, 4, device="cuda")
torch.ops._C.silu_and_mul(got, x.t().contiguous().t())
print("of an operand with other strides", got, "expected", expected, sep="\n")

is_right = torch.allclose(base[:, 4:], expected) and not base[:, :4].any() and torch.allclose(got, expected)
sys.exit(not is_right)
