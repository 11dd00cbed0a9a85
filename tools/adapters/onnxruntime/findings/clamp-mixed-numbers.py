"""clamp with a float and an integer for its limits is not exported.

The pass that promotes types (torch/onnx/_internal/fx/passes/type_promotion.py) puts tensors for the numbers, and
then finds no overload of clamp that takes a tensor and a number. The exporter's fault.
"""

import sys

import torch
from exported import export

x = torch.tensor([-2.0, 0.5, 2.0])
try:
    export(lambda x: torch.clamp(x, -0.5, 1), x)
except torch.onnx.OnnxExporterError as error:
    print(str(error).strip().splitlines()[-1])
    print(repr(error.__cause__)[:300])
    sys.exit(1)
