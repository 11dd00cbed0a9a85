"""A copy of a state is returned, with outputs of the caller's memory (alloc_graph_output=False): an error when it is emitted.

RemoveToCopyPass (exir/passes/remove_noop_pass.py) takes the copy out, so the state itself is an output. collect_specs_from_nodes
(exir/memory_planning.py) passes over whatever is an output, so the state has no place: "Mutable buffer ... must have a memory id".
"""

import sys

import torch
from executorch.exir.error import InternalError
from lowered import lowered


class Module(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("state", torch.zeros(4))

    def forward(self, x):
        before = self.state.to(torch.float32, copy=True)
        self.state.add_(x)
        return before


try:
    lowered(Module(), (torch.arange(4.0),), alloc_graph_output=False)
except InternalError as error:
    print(str(error).splitlines()[0])
    sys.exit(1)
