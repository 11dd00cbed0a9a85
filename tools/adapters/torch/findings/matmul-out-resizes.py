"""A product of a vector and a matrix into every other element of a line, which keeps its others: in eager mode.

matmul makes the vector a matrix of one row and calls mm.out on the target itself, which resizes it to two
dimensions: from then on it is contiguous, and lies over elements that are not its own.
"""

import sys
import warnings

import torch

warnings.simplefilter("ignore")  # "An output with one or more elements was resized"
line = torch.zeros(8)
target = line[::2]
torch.matmul(torch.ones(3), torch.ones(3, 4), out=target)
print(line.tolist(), target.stride())
sys.exit(line.tolist() != [3.0, 0.0] * 4)
