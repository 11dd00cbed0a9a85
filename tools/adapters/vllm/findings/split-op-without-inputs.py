"""A split op that reads no value of the graph does not compile; neither does a graph without inputs.

generate_execution_code_with_name (compilation/codegen.py): `assert len(param_names) > 0`, of the function that it writes
for a piece.
"""

import sys

import torch
from compiled import compiled, error_of


@torch.library.custom_op("mylib::positions", mutates_args=())
def positions() -> torch.Tensor:
    return torch.arange(4)


@positions.register_fake
def _():
    return torch.empty(4, dtype=torch.int64)


message = error_of(compiled(lambda x: positions() + x, split=["mylib::positions"], pieces="eager"), torch.zeros(4))
print(message or "compiled")
sys.exit(bool(message))
