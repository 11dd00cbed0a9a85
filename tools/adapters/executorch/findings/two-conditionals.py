"""The result of a conditional is read, or returned, behind a second conditional: it has the second one's contents.

_apply_algo_to_submodules (exir/memory_planning.py) plans the arms of all conditionals over the same bytes, and the emitter moves
results out of them by pointer (MoveCall in exir/emit/_emitter.py), so the second conditional overwrites the first one's result.
"""

import sys

import torch
from lowered import differs


class Module(torch.nn.Module):
    def forward(self, x):
        holds = x.sum() > 0
        a = torch.cond(holds, lambda v: v.sin() + 1, lambda v: v.cos() + 2, [x])
        b = torch.cond(holds, lambda v: v.exp() + 1, lambda v: v.cos() + 3, [x])
        return a, b


sys.exit(differs(Module(), (torch.arange(1.0, 5.0),)))
