"""Two modules of one class with different numbers: the second runs the code that was compiled for the first.

`__call__` of support_torch_compile (compilation/decorators.py) finds a compiled artifact by the hash of configuration,
environment and class. Neither the module's attributes nor its prefix are in it, and guards are off when it is loaded.
"""

import os
import sys
import tempfile

import torch
from compiled import configuration
from vllm.compilation.decorators import support_torch_compile
from vllm.config import set_current_vllm_config

os.environ["VLLM_DISABLE_COMPILE_CACHE"] = "0"  # as vLLM has it
os.environ["VLLM_CACHE_ROOT"] = tempfile.mkdtemp()


@support_torch_compile
class Scale(torch.nn.Module):
    def __init__(self, factor, *, vllm_config, prefix=""):
        super().__init__()
        self.factor = factor

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.factor


config = configuration([], "inductor")
with set_current_vllm_config(config):
    double = Scale(2.0, vllm_config=config, prefix="double")
    triple = Scale(3.0, vllm_config=config, prefix="triple")
    double(torch.ones(3))
    eager, got = triple.forward(torch.ones(3)), triple(torch.ones(3))
print(eager, got, sep="\n")
sys.exit(not torch.equal(eager, got))
