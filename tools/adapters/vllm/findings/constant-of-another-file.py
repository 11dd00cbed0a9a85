"""A number that a model imports is changed in its file: vLLM still runs the code that was compiled with the old number.

_verify_source_unchanged (compilation/decorators.py) compares the files of functions that Dynamo inlined. A file from
which only a constant comes is not among them, and guards are off when the compiled artifact is loaded.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

MODEL = """
import torch
from settings import FACTOR
from vllm.compilation.decorators import support_torch_compile

@support_torch_compile
class Model(torch.nn.Module):
    def __init__(self, *, vllm_config, prefix=""):
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * FACTOR
"""
START = """
import os
import torch
from compiled import configuration
from vllm.config import set_current_vllm_config
os.environ["VLLM_DISABLE_COMPILE_CACHE"] = "0"  # as vLLM has it
from model import Model
config = configuration([], "inductor")
with set_current_vllm_config(config):
    print(Model(vllm_config=config)(torch.ones(1)).item())
"""

folder = Path(tempfile.mkdtemp())
(folder / "model.py").write_text(MODEL)
environment = dict(os.environ, VLLM_CACHE_ROOT=str(folder / "cache"), TORCHINDUCTOR_CACHE_DIR=str(folder / "inductor"),
                   PYTHONPATH=os.pathsep.join([str(folder), str(Path(__file__).parent)]), PYTHONDONTWRITEBYTECODE="1")
got = []
for factor in (2.0, 3.0):
    (folder / "settings.py").write_text(f"FACTOR = {factor}\n")
    run = subprocess.run([sys.executable, "-c", START], env=environment, stdout=subprocess.PIPE, text=True, check=True)
    got.append(float(run.stdout.split()[-1]))
print("expected [2.0, 3.0], got", got)
sys.exit(got != [2.0, 3.0])
