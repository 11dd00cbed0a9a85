"""With cudagraph_copy_inputs a tensor whose second size varies cannot be passed a second time.

make_copy_and_call (compilation/backends.py) takes the first dimension of its buffer alone: `input_buffers[i][:shape[0]]`.
"""

import sys

import torch
from compiled import compiled, error_of
from vllm.config import CUDAGraphMode


def function(x):
    return x * 2.0


call = compiled(function, pieces="eager", dynamic=True, cudagraph_mode=CUDAGraphMode.FULL, cudagraph_copy_inputs=True)
call(torch.zeros(3, 8))
message = error_of(call, torch.zeros(3, 5))
print(message or "ran")
sys.exit(bool(message))
