"""An input without a place in the plan that is returned, too: every reader of it computes with other bytes.

collect_specs_from_nodes (exir/memory_planning.py) plans no memory for what is input and output where one of the two is the
caller's. The runtime is then given the output's memory after the input's (extension/pybindings), which is one value: the input is lost.
"""

import sys

import torch
from lowered import differs


class Module(torch.nn.Module):
    def forward(self, x):
        return x + 1.0, x


found = [differs(Module(), (torch.arange(1.0, 5.0),), **{name: False}) for name in ("alloc_graph_input", "alloc_graph_output")]
sys.exit(any(found))
