"""A batch norm in training mode that has running statistics: the model normalizes by these.

aten_native_batch_norm and aten__native_batch_norm_legit_functional of onnxscript
(function_libs/torch_lib/ops/core.py) set `training = False`, "a temporary fix", and say nothing. So values are
wrong, and what should become of the running statistics is what they were. The exporter's fault.
"""

import sys

import torch
from exported import export, run

x = torch.tensor([[1.0, 2.0], [3.0, 6.0]])
statistics = torch.tensor([5.0, -5.0]), torch.tensor([4.0, 4.0])


def norm(x, mean, variance):
    return torch.nn.functional.batch_norm(x, mean.clone(), variance.clone(), training=True)


expected = norm(x, *statistics)
(said,) = run(export(norm, x, *statistics), x, *statistics)
print("PyTorch", expected.tolist(), "the model", said.tolist())
sys.exit(not torch.allclose(said, expected, atol=1e-3))
