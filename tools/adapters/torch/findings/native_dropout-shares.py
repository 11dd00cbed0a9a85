"""native_dropout without training: a copy in eager mode, compiled it is the caller's tensor."""

import sys

import torch


def function(x):
    return torch.native_dropout(x, 0.25, False)[0]


def left_by(run):
    x = torch.zeros(3)
    run(x).add_(1)
    return x.tolist()


eager, compiled = left_by(function), left_by(torch.compile(function))
print(eager, compiled, sep="\n")
sys.exit(eager != compiled)
