"""A float64 weight that is loaded into an AOTInductor package of a float32 model: its bits are taken for float32 numbers."""

import os
import sys
import tempfile

import torch


class Scaling(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(3, 4))

    def forward(self, x):
        return self.weight * x


module, x = Scaling().eval(), torch.ones(1)
with torch.no_grad():
    program = torch.export.export(module, (x,))
path = torch._inductor.aoti_compile_and_package(program, package_path=tempfile.mkdtemp() + "/model.pt2")
package = torch._inductor.aoti_load_package(path)
state = {"weight": torch.arange(12.0, dtype=torch.float64).view(3, 4)}
module.load_state_dict(state)
eager = module(x)
try:
    package.load_constants(state, check_full_update=True)
except RuntimeError as error:
    print(error)
    sys.exit(0)
compiled = package(x)
print(eager.tolist(), compiled.tolist(), sep="\n")
sys.stdout.flush()
os._exit(not torch.equal(eager, compiled))  # the heap is broken, and an exit would end in a crash
