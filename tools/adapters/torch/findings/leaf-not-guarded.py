"""A branch on `is_leaf`: what was compiled for a leaf runs for a tensor that is none, and so it is with `grad_fn`."""

import sys

import torch


def by_leaf(x):
    return x + 1 if x.is_leaf else x - 1


def by_history(x):
    return x + 1 if x.grad_fn is None else x - 1


leaf = torch.zeros(2, requires_grad=True)
wrong = False
for function in (by_leaf, by_history):
    compiled = torch.compile(function)
    compiled(leaf)
    eager, again = function(leaf * 1), compiled(leaf * 1)
    print(eager.tolist(), again.tolist())
    wrong |= not torch.equal(eager, again)
sys.exit(wrong)
