"""A clone taken between two writes: [0.0, 2.0] in eager mode; compiled, what was written later."""

import sys

import torch


def function(x, index, y):
    x.index_put_([index], y)
    kept = x.clone()
    x.neg_()
    return kept


def arguments():
    return torch.tensor([1.0, 2.0]), torch.tensor([0]), torch.tensor([0.0])


eager = function(*arguments()).tolist()
compiled = torch.compile(function)(*arguments()).tolist()
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
