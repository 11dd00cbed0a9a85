"""A slice of all of a state that is copied and returned, and then the state is written: the caller gets the new contents.

RemoveNoopPass (exir/passes/remove_noop_pass.py) takes a slice_copy of the operand's shape for nothing, though it makes new memory.
"""

import sys

import torch
from lowered import differs


class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.zeros(4))

    def forward(self, x):
        before = torch.ops.aten.slice_copy.Tensor(self.state, 0, 0, 4)
        self.state.add_(x)
        return before


sys.exit(differs(Module(), (torch.arange(4.0),)))
