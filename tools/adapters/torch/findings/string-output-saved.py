"""A program that returns a string is saved without a word, and the file cannot be loaded."""

import io
import sys

import torch


class Named(torch.nn.Module):
    def forward(self, x):
        return x + 1, "sum"


x = torch.ones(2)
program = torch.export.export(Named(), (x,))
print(program.module()(x))
file = io.BytesIO()
torch.export.save(program, file)
file.seek(0)
try:
    print(torch.export.load(file).module()(x))
    failed = False
except Exception as error:
    print(type(error).__name__, str(error)[:200])
    failed = True
sys.exit(failed)
