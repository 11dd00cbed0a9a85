"""A decoder with a KV cache, for docs/tutorial.md: two layers, one sequence, 32 words."""

import torch
from torch import nn

WORDS, WIDTH, HEADS, LENGTH = 32, 16, 2, 16


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.RMSNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        for name in ("keys", "values"):
            self.register_buffer(name, torch.zeros(LENGTH, HEADS, WIDTH // HEADS))

    def forward(self, x, positions, mask):
        q, k, v = self.qkv(self.norm(x)).view(-1, 3, HEADS, WIDTH // HEADS).unbind(1)
        self.keys.index_copy_(0, positions, k)
        self.values.index_copy_(0, positions, v)
        scores = torch.einsum("nhd,mhd->hnm", q, self.keys) / (WIDTH // HEADS) ** 0.5
        weights = scores.masked_fill(~mask, float("-inf")).softmax(-1)
        return x + self.out(torch.einsum("hnm,mhd->nhd", weights, self.values).flatten(1))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(2))
        self.head = nn.Linear(WIDTH, WORDS, bias=False)

    def seen(self, positions):
        """What each token may look at: itself, and what came before."""
        return torch.arange(LENGTH) <= positions[:, None]

    def forward(self, tokens, positions):
        x, mask = self.embed(tokens), self.seen(positions)
        for layer in self.layers:
            x = layer(x, positions, mask)
        return self.head(x)


def model(decoder=Decoder):
    torch.manual_seed(0)
    prompt = (torch.randint(WORDS, (5,)), torch.arange(5))  # five tokens, then two and three more
    two = (torch.randint(WORDS, (2,)), torch.arange(5, 7))
    three = (torch.randint(WORDS, (3,)), torch.arange(7, 10))
    return {"module": decoder(), "calls": [prompt, two, three]}


class WrongMask(Decoder):
    """With `<` for `<=`: no token looks at itself, but for the first, which has nothing else to look at."""

    def seen(self, positions):
        return torch.arange(LENGTH) < positions[:, None] + (positions[:, None] == 0)


def wrong_mask():
    return model(WrongMask)
