"""A dictionary whose entries come in another order than at the export: an AOTInductor package takes each tensor for the other."""

import sys
import tempfile

import torch


class Difference(torch.nn.Module):
    def forward(self, pair):
        return pair["a"] - pair["b"]


pair = {"a": torch.full((2,), 5.0), "b": torch.ones(2)}
turned = {"b": pair["b"], "a": pair["a"]}
program = torch.export.export(Difference(), (pair,))
path = torch._inductor.aoti_compile_and_package(program, package_path=tempfile.mkdtemp() + "/model.pt2")
package = torch._inductor.aoti_load_package(path)
eager, exported, compiled = (run(turned).tolist() for run in (Difference(), program.module(), package))
print(eager, exported, compiled, sep="\n")
sys.exit(eager != compiled)
