"""The maximum of what is scattered, without what was there, is the smallest finite float where all of it is -infinity.

aten_scatter_reduce of onnxscript (function_libs/torch_lib/ops/core.py) says in a comment that it begins with -inf, and
begins with `np.finfo(dtype).min`; "amin" with the largest. The exporter's fault.
"""

import sys

import torch
from exported import export, run

x, source, places = torch.tensor([1.0, 2.0]), torch.tensor([-torch.inf, -torch.inf]), torch.tensor([0, 0])


def function(x, source, places):
    return torch.scatter_reduce(x, 0, places, source, "amax", include_self=False)


expected = function(x, source, places)
(said,) = run(export(function, x, source, places), x, source, places)
print("PyTorch", expected.tolist(), "the model", said.tolist())
sys.exit(not torch.equal(said, expected))
