"""A weight that is loaded into an AOTInductor package from a part of a larger tensor: the whole storage is copied over the
constants that lie behind it, and read at the part's offset once more."""

import os
import sys
import tempfile

import torch


class Adding(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Parameter(torch.zeros(16))
        self.b = torch.nn.Parameter(torch.zeros(16))
        self.c = torch.nn.Parameter(torch.zeros(1024))

    def forward(self, x):
        return self.a + x, self.b + x, self.c.sum()


module, x = Adding().eval(), torch.zeros(16)
with torch.no_grad():
    program = torch.export.export(module, (x,))
path = torch._inductor.aoti_compile_and_package(program, package_path=tempfile.mkdtemp() + "/model.pt2")
package = torch._inductor.aoti_load_package(path)
parts = torch.arange(1.0, 65.0).view(4, 16)
package.load_constants({"a": parts[1]}, check_full_update=False)
module.load_state_dict({"a": parts[1]}, strict=False)
wrong = False
for name, eager, compiled in zip("abc", module(x), package(x)):
    print(name, eager.tolist(), compiled.tolist())
    wrong |= not torch.equal(eager, compiled)
sys.stdout.flush()
os._exit(wrong)  # the heap is broken, and an exit would end in a crash
