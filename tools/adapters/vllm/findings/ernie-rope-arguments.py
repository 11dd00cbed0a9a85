"""The rotary embedding of Ernie 4.5 VL does not run on a CPU with custom ops, as in eager mode.

Ernie4_5_VLRotaryEmbedding (model_executor/layers/rotary_embedding/ernie45_vl_rope.py) has a forward_native without
offsets, and inherits MRotaryEmbedding.forward_cpu, which hands offsets on. On ROCm it inherits forward_hip, whose
kernel lays its sections out as T, H, W and not as Ernie's H, W alternating, then T.
"""

import sys

import torch
from compiled import configuration, error_of
from vllm.config import set_current_vllm_config
from vllm.model_executor.layers.rotary_embedding.ernie45_vl_rope import Ernie4_5_VLRotaryEmbedding

config = configuration([], "eager")
config.compilation_config.custom_ops = ["all"]  # as vLLM has it with enforce_eager
with set_current_vllm_config(config):
    rope = Ernie4_5_VLRotaryEmbedding(128, 128, 1024, 10000.0, True, torch.float32, mrope_section=[22, 22, 20])
message = error_of(rope, torch.tensor([[5, 6], [1, 2], [3, 2]]), torch.ones(2, 128), torch.ones(2, 128))
print(message or "ran")
sys.exit(bool(message))
