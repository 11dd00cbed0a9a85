"""floor, ceil, round, trunc and isnan of integers become models that are none.

PyTorch rounds integers to themselves. aten_floor and the others of onnxscript
(function_libs/torch_lib/ops/core.py) make Floor of them, which takes floats alone. onnx's checker refuses the
model. The exporter's fault.
"""

import sys

import onnx
import torch
from exported import export

x = torch.tensor([-2, 3])
refused = []
for function in (torch.floor, torch.ceil, torch.round, torch.trunc, torch.isnan):
    try:
        onnx.checker.check_model(export(function, x), full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        refused.append(function.__name__)
        print(function.__name__, str(error).strip().splitlines()[-1])
sys.exit(bool(refused))
