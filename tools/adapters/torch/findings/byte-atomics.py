"""Bytes that are added up by index, on a GPU: computed in eager mode, refused by Triton when they are compiled."""

import sys

import torch


def add_rows(x, index, rows):
    return x.index_add(0, index, rows)


def put(x, index, rows):
    return x.index_put((index,), rows, accumulate=True)


def scatter(x, index, rows):
    return x.scatter_add(0, index, rows)


seen = False
for dtype in torch.int8, torch.uint8:
    arguments = [
        torch.zeros(4, dtype=dtype, device="cuda"),
        torch.tensor([0, 0, 1], device="cuda"),
        torch.ones(3, dtype=dtype, device="cuda"),
    ]
    for function in add_rows, put, scatter:
        eager = function(*arguments)
        try:
            print(function.__name__, dtype, torch.equal(eager, torch.compile(function)(*arguments)))
        except Exception as error:
            print(function.__name__, dtype, str(error).strip().splitlines()[0][:200])
            seen = True
sys.exit(seen)
