"""A result on the host beside work on a GPU, with CUDA graphs and graph partition: it comes back on the GPU."""

import sys

import torch


def function(x, s):
    return x * s, s + 1, torch.arange(4)


arguments = torch.ones(4, device="cuda"), torch.tensor(2.0)
eager = function(*arguments)
compiled = torch.compile(function, mode="reduce-overhead")(*arguments)
for name, results in ("eager", eager), ("compiled", compiled):
    print(name, [str(result.device) for result in results])
sys.exit([a.device for a in eager] != [b.device for b in compiled])
