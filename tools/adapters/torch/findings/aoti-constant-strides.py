"""A transposed weight that is loaded into an AOTInductor package: kernels read it as the weight lay when they were compiled."""

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
state = {"weight": torch.arange(12.0).view(4, 3).t()}
package.load_constants(state, check_full_update=True)
module.load_state_dict(state)
eager, compiled = module(x), package(x)
print(eager.tolist(), compiled.tolist(), sep="\n")
sys.exit(not torch.equal(eager, compiled))
