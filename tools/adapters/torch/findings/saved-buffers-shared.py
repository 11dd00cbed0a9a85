"""Two buffers that share storage, one of which is written: saved and loaded, or unflattened, each has storage of its own."""

import io
import sys

import torch


class Counting(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("counts", torch.zeros(4))
        self.register_buffer("last", self.counts[3:], persistent=False)

    def forward(self, x):
        self.counts.add_(1)
        return x + self.last


def exported():
    return torch.export.export(Counting(), (x,))


def loaded():
    file = io.BytesIO()
    torch.export.save(exported(), file)
    file.seek(0)
    return torch.export.load(file).module()


x = torch.zeros(2)
results = [run(x) for run in (Counting(), exported().module(), loaded(), torch.export.unflatten(exported()))]
print(*(result.tolist() for result in results), sep="\n")
sys.exit(any(not torch.equal(results[0], result) for result in results))
