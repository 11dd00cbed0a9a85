"""With cudagraph_copy_inputs a program that writes its input writes vLLM's copy: the caller's tensor stays as it was.

make_copy_and_call (compilation/backends.py) copies inputs into static buffers, and nothing back.
"""

import sys

import torch
from compiled import compiled
from vllm.config import CUDAGraphMode


def function(x):
    x.add_(1.0)
    return x * 2.0


call = compiled(function, pieces="eager", dynamic=True, cudagraph_mode=CUDAGraphMode.FULL, cudagraph_copy_inputs=True)
x = torch.zeros(3, 4)
call(x)
print(x)
sys.exit(not torch.equal(x, torch.ones(3, 4)))
