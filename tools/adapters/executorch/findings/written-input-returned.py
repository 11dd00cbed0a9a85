"""A program that writes an input returns one output more: the input, before all others.

insert_write_back_for_buffers_pass (exir/passes/insert_write_back_for_buffers_pass.py) keeps the outputs that stand for writes, and
only those of buffers are taken out when the program is emitted.
"""

import sys

import torch
from lowered import differs


class Module(torch.nn.Module):
    def forward(self, x):
        x.add_(1.0)
        return x * 2.0


sys.exit(differs(Module(), (torch.arange(4.0),)))
