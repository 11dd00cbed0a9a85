"""The negation of a range, as numbers: C++ that does not compile."""

import sys

import torch


def function(x):
    return torch.arange(9).logical_not().long() + x


x = torch.zeros(9, dtype=torch.int64)
print(function(x).tolist())
try:
    print(torch.compile(function)(x).tolist())
    failed = False
except Exception as error:
    text = str(error)
    print(type(error).__name__, text[text.find("error:") :][:150])
    failed = True
sys.exit(failed)
