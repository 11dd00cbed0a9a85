"""lerp from a channels_last tensor to a row: does not compile."""

import sys

import torch


def function(x, end):
    return torch.lerp(x, end, 0.25)


arguments = torch.ones(2, 3, 4, 5).to(memory_format=torch.channels_last), torch.zeros(5)
print(function(*arguments).sum().item())
try:
    print(torch.compile(function)(*arguments).sum().item())
except torch._dynamo.exc.BackendCompilerFailed as error:
    print(str(error).strip().splitlines()[-1])
    sys.exit(1)
