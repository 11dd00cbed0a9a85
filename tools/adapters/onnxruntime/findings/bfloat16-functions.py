"""Functions of bfloat16 become models that are none.

ONNX's Sinh and Softplus take bfloat16 from operator set 22 on, and the exporter makes models of set 18 or 20.
aten_sinh and aten_softplus of onnxscript (function_libs/torch_lib/ops) cast nothing. onnx's checker refuses the
model. The exporter's fault.
"""

import sys

import onnx
import torch
from exported import export

x = torch.tensor([0.5, 1.0], dtype=torch.bfloat16)
refused = []
for function in (torch.sinh, torch.cosh, torch.asin, torch.tan, torch.nn.functional.softplus):
    try:
        onnx.checker.check_model(export(function, x), full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        refused.append(function.__name__)
        print(function.__name__, str(error).strip().splitlines()[-1])
sys.exit(bool(refused))
