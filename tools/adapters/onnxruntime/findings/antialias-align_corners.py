"""Resizing with antialias and align_corners gives other values than eager mode, by more than half.

aten__upsample_bilinear2d_aa of onnxscript (function_libs/torch_lib/ops/core.py) makes a Resize with antialias and
align_corners. Eager mode takes the scale of align_corners, (n - 1) / (m - 1), but the places of half pixels. The two
mean different things by one word; onnx's reference and ONNX Runtime agree. The bicubic one is alike.
"""

import sys

import torch
from exported import export, refer, run

x = torch.arange(16.0).reshape(1, 1, 4, 4)


def resize(x):
    return torch.ops.aten._upsample_bilinear2d_aa(x, [3, 6], True)


model = export(resize, x)
expected = resize(x)
(said,), (reference,) = run(model, x), refer(model, x)
print("PyTorch", expected.tolist(), "ONNX Runtime", said.tolist(), "onnx's reference", reference.tolist())
sys.exit(not torch.allclose(said, expected, atol=1e-4))
