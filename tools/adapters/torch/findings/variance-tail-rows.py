"""A batch norm behind `leaky_relu` has another variance in the last channels when it is compiled (CPU).

Channels beyond the last full vector of 16 are reduced by a loop over scalars. `CppKernelProxy.aggregate_reduction_buffers`
in `_inductor/codegen/cpp.py` gives each of them an accumulator of its own, but they share one `WelfordHelper`. Every
4096 elements `welford_combine` moves an accumulator to that helper's stack, whose contents reach no result.
"""

import sys

import torch


def function(x):
    x = torch.nn.functional.leaky_relu(x)
    return torch.var(x, dim=(0, 2, 3)), torch.nn.functional.batch_norm(x, None, None, training=True)[0, :, 0, 0]


torch.manual_seed(0)
x = torch.randn(2, 20, 64, 64).to(memory_format=torch.channels_last)
eager, compiled = function(x), torch.compile(function)(x)
print(eager[0][14:], compiled[0][14:], sep="\n")
sys.exit(any(not torch.allclose(one, other, rtol=1e-3, atol=1e-3) for one, other in zip(eager, compiled)))
