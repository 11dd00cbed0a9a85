"""A number scattered into a constant without dimensions does not compile."""

import sys

import torch


def function(place):
    return torch.full((), 1.0).scatter(0, place, 5.0)


place = torch.tensor(0)
print(function(place))
try:
    print(torch.compile(function)(place))
except Exception as error:  # noqa: BLE001
    print(f"{type(error).__name__}: {str(error).splitlines()[0]}")
    sys.exit(1)
