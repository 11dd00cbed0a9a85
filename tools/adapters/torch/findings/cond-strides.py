"""Arms that differ in the stride of a dimension of size 1: run in eager mode, not compiled."""

import sys

import torch


def function(which, x):
    return torch.cond(which, torch.clone, torch.tanh, (x,))


which, x = torch.tensor(True), torch.ones(4).as_strided([1, 4], [1, 1])
print(torch.clone(x).stride(), torch.tanh(x).stride())
try:
    print(torch.compile(function)(which, x).shape)
except Exception as error:
    words = str(error)
    print(words[words.find("a_stride_expr") :].splitlines()[0])
    sys.exit(1)
