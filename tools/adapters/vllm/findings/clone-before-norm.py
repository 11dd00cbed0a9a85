"""The value before a norm in place is asked for: vLLM drops its clone, and the norm has overwritten it by then.

UnsafeCloneEliminationPass (passes/ir/clone_elimination.py) and Inductor's remove_noop_ops drop the clone, since
auto_functionalized writes nothing. FixFunctionalizationPass (passes/utility/fix_functionalization.py) then makes the op write
its argument in place, whoever else reads that.
"""

import sys

import torch
from compiled import compiled


def function(x, residual, weight):
    a, b = x * 1.5, residual + 1.0
    old = a.clone()
    torch.ops._C.fused_add_rms_norm(a, b, weight, 1e-5)
    return a, b, old + 1.0


arguments = torch.arange(12.0).view(3, 4), torch.ones(3, 4), torch.ones(4)
eager = function(*arguments)[2]
got = compiled(function)(*arguments)[2]
print(eager, got, sep="\n")
sys.exit(not torch.allclose(eager, got))
