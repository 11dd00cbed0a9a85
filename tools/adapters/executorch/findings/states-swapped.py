"""Two states are exchanged: both hold the same contents behind the call.

_insert_copy (exir/passes/insert_write_back_for_buffers_pass.py) writes the states one after the other at the end of the graph. The
value that goes into the second one is the first one's placeholder, which has been written by then. The clone between them is gone:
torch.export's run_decompositions makes `copy` of a clone that one state's contents go through.
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
