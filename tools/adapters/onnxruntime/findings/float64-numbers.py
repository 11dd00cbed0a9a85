"""A number beside float64 is a float32 in the model: `x + 0.1` is off by 1.5e-9, and `x / 0.1` by 1.5e-7.

The exporter's pass that promotes types makes `aten.scalar_tensor(0.1, dtype=torch.float64)` of the number, and
aten_scalar_tensor of onnxscript (function_libs/torch_lib/ops/core.py) a Constant of float32 with a Cast behind it. Ops
that keep their number (`masked_fill`, `full`, `lerp`) cast a float32, too. The exporter's fault.
"""

import sys

import torch
from exported import export, run

x = torch.zeros(2, dtype=torch.float64)
functions = {
    "x + 0.1": lambda x: x + 0.1,
    "(x + 1) / 0.1": lambda x: (x + 1) / 0.1,
    "masked_fill": lambda x: x.masked_fill(x == 0, 0.1),
    "full": lambda x: torch.full((2,), 0.1, dtype=torch.float64) + x,
    "lerp": lambda x: torch.lerp(x, x + 1, 0.1),
    "clamp": lambda x: x.clamp(min=0.1),
}
shows = False
for name, function in functions.items():
    expected = function(x)
    (said,) = run(export(function, x), x)
    print(f"{name}: PyTorch {expected[0].item()!r}, the model {said[0].item()!r}")
    shows = shows or not torch.allclose(said, expected, rtol=1e-12)
sys.exit(shows)
