"""A float argument that is squared: the second value makes it a symbol, and a negative one does not compile then."""

import sys

import torch


def function(x, factor):
    return x * factor**2


compiled, x = torch.compile(function), torch.ones(2)
failed = False
for factor in (1.5, 2.5, -0.5):
    try:
        print(function(x, factor).tolist(), compiled(x, factor).tolist())
    except Exception as error:
        print(factor, type(error).__name__, str(error)[:200])
        failed = True
sys.exit(failed)
