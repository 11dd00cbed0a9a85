"""An OrderedDict whose entries are moved between two calls: compiled code runs them in the order of the first call."""

import collections
import sys

import torch

stages = collections.OrderedDict(double=lambda x: x * 2, increment=lambda x: x + 1)


def function(x):
    for stage in stages.values():
        x = stage(x)
    return x


compiled, x = torch.compile(function), torch.ones(2)
compiled(x)
stages.move_to_end("double")
eager, again = function(x), compiled(x)
print(eager.tolist(), again.tolist(), sep="\n")
sys.exit(not torch.equal(eager, again))
