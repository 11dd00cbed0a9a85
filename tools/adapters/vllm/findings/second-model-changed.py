"""The file of a model that is compiled second is changed: vLLM still runs the code that was compiled before.

VllmBackend.__call__ (compilation/backends.py) makes one folder for a process, by the hash of the files that the first model was
traced through: `if not self.compilation_config.cache_dir`. CompilerManager.load finds an artifact there by range, number and
compiler alone. So it is with VLLM_USE_AOT_COMPILE=0; a drafter, or an encoder, is such a second model.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

MODEL = """
import torch
from vllm.compilation.decorators import support_torch_compile

@support_torch_compile
class {name}(torch.nn.Module):
    def __init__(self, *, vllm_config, prefix=""):
        super().__init__()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * {factor}
"""
START = """
import os
import torch
from compiled import configuration
from vllm.compilation.backends import set_model_tag
from vllm.config import set_current_vllm_config
os.environ["VLLM_DISABLE_COMPILE_CACHE"] = "0"  # as vLLM has it
from first import First
from second import Second
config = configuration([], "inductor")
with set_current_vllm_config(config):
    first = First(vllm_config=config)
    with set_model_tag("head"):
        second = Second(vllm_config=config)
    first(torch.ones(1))
    print(second(torch.ones(1)).item())
"""

folder = Path(tempfile.mkdtemp())
(folder / "first.py").write_text(MODEL.format(name="First", factor=5.0))
environment = dict(os.environ, VLLM_USE_AOT_COMPILE="0", VLLM_CACHE_ROOT=str(folder / "cache"),
                   TORCHINDUCTOR_CACHE_DIR=str(folder / "inductor"), PYTHONDONTWRITEBYTECODE="1",
                   PYTHONPATH=os.pathsep.join([str(folder), str(Path(__file__).parent)]))
got = []
for factor in (2.0, 3.0):
    (folder / "second.py").write_text(MODEL.format(name="Second", factor=factor))
    run = subprocess.run([sys.executable, "-c", START], env=environment, stdout=subprocess.PIPE, text=True, check=True)
    got.append(float(run.stdout.split()[-1]))
print("expected [2.0, 3.0], got", got)
sys.exit(got != [2.0, 3.0])
