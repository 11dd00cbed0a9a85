"""The remainder of a symbolic size times a float: C++ that takes `%` of two doubles, and does not compile (CPU)."""

import sys

import torch


def function(x):
    return x + (x.shape[0] * 0.3) % 1


x = torch.zeros(7)
print(function(x).tolist())
try:
    print(torch.compile(function, dynamic=True)(x).tolist())
    failed = False
except Exception as error:
    text = str(error)
    print(type(error).__name__, text[text.find("error:") :][:150])
    failed = True
sys.exit(failed)
