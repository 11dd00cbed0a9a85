#!/usr/bin/env python3
"""Records golden/training: the graphs of training steps, as torch.compile captures them.

    PYTHONPATH=tools/adapters/torch make_training_programs.py OUT_DIR [NAME...]

Each step trains a small model for a few batches, compiled with graphgate_torch.record.
NAME_forward.pt2, NAME_backward.pt2 and NAME_update.pt2 are its graphs: the loss and what it keeps,
the gradients, and what the optimizer does to parameters and states. Beside each lies a recording of
its calls on the CPU (docs/formats.md, "Recordings"). Needs PyTorch and safetensors.
"""

import os
import shutil
import sys
import tempfile

import torch
from torch import nn
from torch.nn import functional as F

import graphgate_torch

CALLS = 2


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 3))

    def forward(self, x, y):
        return F.mse_loss(self.layers(x), y)


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(2, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 4, 3), nn.SiLU(),
            nn.Flatten(), nn.Linear(16, 5),
        )

    def forward(self, x, y):
        return F.cross_entropy(self.layers(x), y)


class Transformer(nn.Module):
    """One block of a causal decoder with its tokens' embedding, which is the last product's matrix, too."""

    def __init__(self, tokens=12, width=8, heads=2):
        super().__init__()
        self.heads = heads
        self.embedding = nn.Embedding(tokens, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.up = nn.Linear(width, 2 * width, bias=False)
        self.down = nn.Linear(2 * width, width, bias=False)

    def forward(self, tokens):
        x = self.embedding(tokens)
        batch, length, width = x.shape
        q, k, v = (
            each.reshape(batch, length, self.heads, -1).transpose(1, 2)
            for each in self.qkv(self.norms[0](x)).chunk(3, dim=-1)
        )
        scores = q @ k.transpose(-1, -2) / (width // self.heads) ** 0.5
        future = torch.ones(length, length, dtype=torch.bool).triu(1)
        weights = torch.softmax(scores.masked_fill(future, float("-inf")), dim=-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))
        x = x + self.down(F.gelu(self.up(self.norms[1](x))))
        logits = x @ self.embedding.weight.t()
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten())


class Bag(nn.Module):
    """Words' mean, normalized, and a margin for each class."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(10, 6, padding_idx=0)
        self.norm = nn.LayerNorm(6)
        self.out = nn.Linear(6, 4)

    def forward(self, words, y):
        x = self.norm(self.words(words).mean(1))
        return F.binary_cross_entropy_with_logits(self.out(F.leaky_relu(x, 0.1)), y)


class Recurrent(nn.Module):
    """A gated cell, three steps long."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 5)
        self.out = nn.Linear(5, 1)

    def forward(self, x, y):
        state = x.new_zeros(x.shape[1], 5)
        for step in x.unbind(0):
            state = self.cell(step, state)
        return F.smooth_l1_loss(self.out(state).squeeze(1), y)


class Normalized(nn.Module):
    """Batch norms that train: running statistics are what a call changes."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 6), nn.BatchNorm1d(6), nn.ELU(),
            nn.Linear(6, 3),
        )

    def forward(self, x, y):
        return F.cross_entropy(self.layers(x), y, label_smoothing=0.1)


class Mixed(nn.Module):
    """Products in bfloat16, norms and the loss in float32."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(6, 8, bias=False), nn.Linear(8, 4, bias=False)
        self.norm = nn.LayerNorm(8)

    def forward(self, x, y):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            x = F.gelu(self.first(x), approximate="tanh")
            # In float32: fake tensors and kernels differ in the dtype of statistics of mixed norms.
            logits = self.last(self.norm(x.float()))
        return F.cross_entropy(logits.float(), y)


def numbers(batch, *sizes):
    return torch.randn(batch, *sizes)


def classes(batch, count):
    return torch.randint(count, (batch,))


# name: the model, its optimizer, one batch, and whether the batch's size is symbolic.
PROGRAMS = {
    "mlp_sgd": (
        Perceptron, lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
        lambda n: (numbers(n, 6), numbers(n, 3)), False,
    ),
    "conv_adamw": (
        Convolutions, lambda p: torch.optim.AdamW(p, lr=1e-2, foreach=True),
        lambda n: (numbers(n, 2, 8, 8), classes(n, 5)), False,
    ),
    "transformer_adam": (
        Transformer, lambda p: torch.optim.Adam(p, lr=1e-2, capturable=True, foreach=True),
        lambda n: (torch.randint(12, (n, 6)),), False,
    ),
    "bag_rmsprop": (
        Bag, lambda p: torch.optim.RMSprop(p, lr=1e-2, momentum=0.5, centered=True),
        lambda n: (torch.randint(10, (n, 5)), (torch.rand(n, 4) < 0.5).float()), False,
    ),
    "gru_adagrad": (
        Recurrent, lambda p: torch.optim.Adagrad(p, lr=0.05, foreach=True),
        lambda n: (numbers(3, n, 3), numbers(n)), False,
    ),
    "batch_norm_sgd": (
        Normalized, lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01, foreach=True),
        lambda n: (numbers(n, 4), classes(n, 3)), True,
    ),
    "autocast_adamw": (
        Mixed, lambda p: torch.optim.AdamW(p, lr=1e-2), lambda n: (numbers(n, 6), classes(n, 4)), False,
    ),
}


def train(name, folder):
    make, optimizer_of, batch_of, is_symbolic = PROGRAMS[name]
    torch.manual_seed(7)
    torch.compiler.reset()
    model = make()
    optimizer = optimizer_of(model.parameters())

    def step():
        optimizer.step()

    batches = [batch_of(4 + i if is_symbolic else 4) for i in range(4)]
    backend = graphgate_torch.record(folder, calls=CALLS)
    loss_of = torch.compile(model, backend=backend, dynamic=is_symbolic)
    # States are there from the first step on: a graph of its own makes them.
    step = torch.compile(step, backend=backend)
    for batch in batches:
        loss_of(*batch).backward()
        step()
        optimizer.zero_grad()


def store(name, folder, out):
    """Gives the last graph of each kind its name: the optimizer's first only makes the states."""
    found = {}
    for file in sorted(os.listdir(folder), key=lambda each: (len(each), each)):
        if file.endswith(".pt2"):
            kind = file.removesuffix(".pt2").split("_")[1]
            found[kind] = os.path.join(folder, file.removesuffix(".pt2"))
    if set(found) != {"forward", "backward", "inference"}:
        sys.exit(f"{name}: has {sorted(found)}")
    for kind, base in found.items():
        kind = "update" if kind == "inference" else kind
        for suffix in (".pt2", ".safetensors", ".geometry.json"):
            shutil.copyfile(base + suffix, os.path.join(out, f"{name}_{kind}{suffix}"))


def main():
    out, names = sys.argv[1], sys.argv[2:] or list(PROGRAMS)
    os.makedirs(out, exist_ok=True)
    torch.set_num_threads(1)
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            train(name, folder)
            store(name, folder, out)


if __name__ == "__main__":
    main()
