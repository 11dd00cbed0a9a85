"""cat of three parts, one of them empty and of a wider type: float64 in eager mode, float32 lowered.

PruneEmptyTensorsPass (exir/passes/prune_empty_tensors_pass.py) leaves the empty part out, and its type with it.
"""

import sys

import torch
from lowered import lowered


class Joined(torch.nn.Module):
    def forward(self, empty, x, y):
        return torch.cat([empty, x, y])


arguments = torch.empty(0, dtype=torch.float64), torch.ones(2), torch.ones(3)
eager, got = Joined()(*arguments).dtype, lowered(Joined(), arguments)(*arguments)[0].dtype
print(eager, got, sep="\n")
sys.exit(eager != got)
