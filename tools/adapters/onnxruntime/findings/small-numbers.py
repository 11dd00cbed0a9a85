"""log1p, expm1 and erfc of the model lose all digits where PyTorch has them for.

aten_log1p, aten_expm1 and aten_special_erfc of onnxscript (function_libs/torch_lib/ops) make Log(1 + x), Exp(x) - 1
and 1 - Erf(x). These functions exist since the sums lose what is small. The exporter's fault.
"""

import sys

import torch
from exported import export, run


def functions(x, y):
    return torch.log1p(x), torch.expm1(x), torch.erfc(y)


operands = torch.tensor([1e-7, 1e-9]), torch.tensor([4.5, 6.0])
expected = functions(*operands)
said = run(export(functions, *operands), *operands)
print("PyTorch", [t.tolist() for t in expected], "the model", [t.tolist() for t in said])
sys.exit(not all(torch.allclose(a, b, rtol=1e-3, atol=0) for a, b in zip(said, expected, strict=True)))
