"""CSEPass takes 0.0 and -0.0 for one number: of two values that are made of them, one is left.

CSEPass (exir/passes/cse_pass.py) compares numbers by Python's equality (_make_hashable), by which 1, 1.0 and True are one, too. A program
runs it where its owner puts it into `transform`, or a backend does.
"""

import sys

import torch
from executorch.exir import to_edge
from executorch.exir.passes.cse_pass import CSEPass
from executorch.runtime import Runtime


class Module(torch.nn.Module):
    def forward(self, x):
        return torch.full((2,), 0.0).reciprocal() + x, torch.full((2,), -0.0).reciprocal() + x


x = torch.tensor([1.0, 2.0])
program = to_edge(torch.export.export(Module(), (x,))).transform([CSEPass()]).to_executorch()
loaded = Runtime.get().load_program(program.buffer)
expected, got = Module()(x), loaded.load_method("forward").execute((x,))
print(expected, got, sep="\n")
sys.exit(not all(torch.equal(a, b) for a, b in zip(expected, got, strict=True)))
