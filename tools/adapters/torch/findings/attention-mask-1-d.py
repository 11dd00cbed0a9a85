"""Attention with a mask of one dimension, as of the keys: does not compile."""

import sys

import torch


def function(query, key, value, mask):
    return ((query @ key.transpose(-2, -1)).div(4.0) + mask).softmax(dim=-1) @ value


arguments = [torch.randn(2, 4, 8, 16) for _ in range(3)]
with torch.no_grad():
    print(function(*arguments, torch.zeros(8)).shape)
    try:
        print(torch.compile(function)(*arguments, torch.zeros(8)).shape)
    except IndexError as error:
        print(str(error).strip().splitlines()[0])
        sys.exit(1)
