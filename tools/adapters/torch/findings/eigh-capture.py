"""Eigenvectors, on a GPU with CUDA graphs: cuSOLVER can't be captured."""

import sys

import torch

x = torch.eye(4, device="cuda")
print(torch.linalg.eigh(x).eigenvalues)
compiled = torch.compile(torch.linalg.eigh, mode="reduce-overhead")
try:
    for _ in range(3):  # as it is, recorded, replayed
        print(compiled(x)[0])
except Exception as error:
    print(type(error).__name__, str(error).splitlines()[0])
    sys.exit(1)
