"""Gradients that are added up over steps with CUDA graphs, of two calls in some of them: the process ends by an exception of C++."""

import subprocess
import sys

PROGRAM = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 4)).cuda()
compiled = torch.compile(model, mode="reduce-overhead")
for step in range(12):
    x = torch.randn(32, 8, device="cuda")
    torch.compiler.cudagraph_mark_step_begin()
    (compiled(x).square().mean() + (compiled(x * 2).mean() if step % 3 == 0 else 0)).backward()
"""
done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
print(done.returncode, *[line for line in done.stderr.splitlines() if "what():" in line])
sys.exit(done.returncode < 0)
