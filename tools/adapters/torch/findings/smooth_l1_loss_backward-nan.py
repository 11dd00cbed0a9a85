"""The gradient of smooth_l1_loss at NaN: NaN in eager mode, 0 compiled."""

import sys

import torch


def function(gradient, x, target):
    return torch.ops.aten.smooth_l1_loss_backward(gradient, x, target, 1, 1.0)


arguments = torch.tensor(1.0), torch.tensor([float("nan"), 2.0]), torch.tensor([0.0, 0.0])
eager, compiled = function(*arguments), torch.compile(function)(*arguments)
print(eager.tolist(), compiled.tolist(), sep="\n")
sys.exit(not torch.equal(eager.isnan(), compiled.isnan()))
