"""Decomposed, a recurrent layer in training has no dropout between its layers any more.

torch.export keeps aten.rnn_tanh.input whole, which drops at random. run_decompositions() makes a
program without a random op of it: two calls give the same, and it is what evaluation gives. LSTM
and GRU lose theirs as well.
"""

import sys

import torch

torch.manual_seed(0)
layer = torch.nn.RNN(4, 6, num_layers=2, dropout=0.5).train()
x = torch.randn(5, 2, 4)
program = torch.export.export(layer, (x,), strict=False)
core = program.run_decompositions()
with torch.no_grad():
    whole = [program.module()(x)[0] for _ in range(2)]
    parts = [core.module()(x)[0] for _ in range(2)]
    evaluated = layer.eval()(x)[0]
varies = not torch.equal(*whole)
is_lost = torch.equal(*parts) and torch.allclose(parts[0], evaluated)
print(f"as exported two calls differ: {varies}; decomposed it computes what evaluation does: {is_lost}")
sys.exit(varies and is_lost)
