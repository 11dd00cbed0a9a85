"""Two states are exchanged: both hold the same contents behind the call.

_insert_copy (exir/passes/insert_write_back_for_buffers_pass.py) writes the states one after the other at the end of the graph. What
goes into one state is the other one's placeholder, since a.copy_(b) is b where nothing is written in place. It has been written by then.
"""

import sys

import torch
from lowered import differs


class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("a", torch.zeros(4))
        self.register_buffer("b", torch.ones(4))

    def forward(self, x):
        old = self.a.clone()
        self.a.copy_(self.b)
        self.b.copy_(old)
        return self.a + x, self.b + x


sys.exit(differs(Module(), (torch.arange(4.0),), calls=2))
