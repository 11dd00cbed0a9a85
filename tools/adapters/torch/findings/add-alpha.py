"""alpha of an addition behind a product: 24.0 in eager mode, 16.0 compiled."""

import torch


def function(x, w, y):
    return torch.add(y, torch.mm(x, w), alpha=1.5)


arguments = torch.ones(4, 16), torch.ones(16, 8), torch.zeros(4, 8)
print(function(*arguments)[0, 0].item())
print(torch.compile(function)(*arguments)[0, 0].item())
