"""The largest of bytes that are cast to bool does not compile along a dimension that fits into one vector."""

import sys

import torch


def function(x):
    return x.bool().max(0)


x = torch.tensor([0, 2, 255], dtype=torch.uint8)
print(function(x))
try:
    print(torch.compile(function)(x))
except Exception as error:  # noqa: BLE001
    print(f"{type(error).__name__}: {str(error).splitlines()[0]}")
    sys.exit(1)
