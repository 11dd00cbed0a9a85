"""A value that index_put_ wrote in place is read later: other values lie over it by then (run_reinplace_pass=True).

collect_specs_from_nodes (exir/memory_planning.py) passes over nodes that write in place. update_all_tensors_lifetime calls it with
a node's operands, so a read of such a node's result makes no lifetime longer: the operand is dead behind the write.
"""

import sys

import torch
from lowered import differs


class Module(torch.nn.Module):
    def forward(self, x, i, v):
        a = torch.ops.aten.index_put.default(x * 2.0, [i], v)
        b = torch.tanh(torch.exp(x))
        return a + torch.cos(torch.sin(b))


sys.exit(differs(Module(), (torch.arange(1.0, 5.0), torch.tensor([1]), torch.tensor([9.0])), reinplace=True))
