"""A method that outlives its program reads memory that is gone: calls fail, or end the process.

The runtime reads the program's bytes in place. Program (runtime/__init__.py) keeps them, and Method keeps neither them nor the
Program: whoever returns the method alone from a function has a method over freed bytes.
"""

import gc
import sys

import torch
from executorch.exir import to_edge
from executorch.runtime import Runtime


class Module(torch.nn.Module):
    def forward(self, x):
        return x + 1.0


content = to_edge(torch.export.export(Module(), (torch.ones(4),))).to_executorch().buffer
nobody = sys.getrefcount(content)
program = Runtime.get().load_program(content)
held = sys.getrefcount(content)
method = program.load_method("forward")
del program
gc.collect()
left = sys.getrefcount(content)
print(f"references to the bytes: {nobody}, with the program {held}, with its method alone {left}")
sys.exit(held > nobody == left)
