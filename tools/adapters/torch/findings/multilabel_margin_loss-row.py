"""Decomposed, the loss of one row of labels that is not reduced has a dimension too many."""

import sys

import torch


class Loss(torch.nn.Module):
    def forward(self, x, target):
        return torch.nn.functional.multilabel_margin_loss(x, target, reduction="none")


x, target = torch.randn(5), torch.tensor([0, 2, -1, 1, 1])
program = torch.export.export(Loss(), (x, target))
eager = Loss()(x, target)
core = program.run_decompositions().module()(x, target)
compiled = torch.compile(Loss())(x, target)
print(f"sizes {list(eager.shape)} in eager mode, {list(core.shape)} decomposed, {list(compiled.shape)} compiled")
sys.exit(eager.shape != core.shape or eager.shape != compiled.shape)
