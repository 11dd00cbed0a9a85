"""A copy of a state that is returned, and then the state is written: the caller gets the new contents.

RemoveToCopyPass (exir/passes/remove_noop_pass.py) takes every _to_copy that changes neither dtype nor layout for nothing. Then the
output is the state's own placeholder, and insert_write_back_for_buffers_pass puts the write before the return.
"""

import sys

import torch
from lowered import differs


class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.zeros(4))

    def forward(self, x):
        before = self.state.to(torch.float32, copy=True)
        self.state.add_(x)
        return before


sys.exit(differs(Module(), (torch.arange(4.0),)))
