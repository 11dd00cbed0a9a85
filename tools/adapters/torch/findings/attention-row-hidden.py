"""A mask hides all of a row with the lowest number: attention is the mean in eager mode, and 0 compiled."""

import sys

import torch


def function(query, key, value, shown):
    query, key, value = (each.permute(0, 2, 1, 3) for each in (query, key, value))
    scores = torch.matmul(query, key.permute(0, 1, 3, 2))
    scores = scores.div(torch.full([], 4.0, dtype=scores.dtype, device=scores.device))
    lowest = torch.full((), torch.finfo(query.dtype).min, dtype=query.dtype, device=query.device)
    scores = torch.where(shown, scores, lowest)
    return torch.nn.functional.dropout(scores.softmax(dim=-1), 0.0).matmul(value), key, value


torch.manual_seed(0)
arguments = [torch.randn(2, 8, 4, 16) for _ in range(3)]
shown = torch.ones(1, 1, 8, 8, dtype=torch.bool).tril()
shown[0, 0, 3] = False
with torch.no_grad():
    eager, compiled = function(*arguments, shown)[0], torch.compile(function)(*arguments, shown)[0]
print(eager[0, 0, 3, :4].tolist(), compiled[0, 0, 3, :4].tolist(), sep="\n")
sys.exit(not torch.allclose(eager, compiled, atol=1e-5))
