"""A tensor of more than 2**31 elements, on a GPU (6 GB): indices that are negated, or int32, are wrong when they are compiled."""

import subprocess
import sys

import torch

COUNT = 3_000_000_000


def from_the_end(x, index):
    return x[-index]


def by_rows(x, index):
    return x.view(-1, 1000).index_select(0, index)


if len(sys.argv) > 1:
    x = torch.zeros(COUNT, dtype=torch.int8, device="cuda")
    if sys.argv[1] == "from_the_end":
        function, index = from_the_end, torch.tensor([5, COUNT - 9], device="cuda")
    else:
        function, index = by_rows, torch.tensor([7, 2_999_999], dtype=torch.int32, device="cuda")
    eager = function(x, index)
    print(sys.argv[1], torch.equal(eager, torch.compile(function)(x, index)))
    torch.cuda.synchronize()
    sys.exit(0)
seen = False
for name in "from_the_end", "by_rows":
    done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True)
    lines = [line for line in done.stderr.splitlines() if "rror" in line or "ssertion" in line]
    print(name, done.stdout.strip() or (lines or ["?"])[0][:200])
    seen |= done.returncode != 0 or "False" in done.stdout
sys.exit(seen)
