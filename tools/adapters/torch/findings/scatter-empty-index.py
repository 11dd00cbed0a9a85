"""scatter of nothing into a tensor without dimensions: compiled, the result has one dimension."""

import sys

import torch


def function(x, index, source):
    return torch.scatter(x, 0, index, source), torch.scatter(x, 0, index, 3.0)


arguments = torch.tensor(1.0), torch.empty(0, dtype=torch.int64), torch.empty(0)
eager, compiled = function(*arguments), torch.compile(function)(*arguments)
print([each.shape for each in eager], [each.shape for each in compiled], sep="\n")
sys.exit([each.shape for each in eager] != [each.shape for each in compiled])
