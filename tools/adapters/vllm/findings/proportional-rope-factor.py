"""The factor of a proportional rotary embedding is left out: angles are as without it.

get_rope (model_executor/layers/rotary_embedding/__init__.py) reads no "factor" for rope_type "proportional", and
Gemma4RotaryEmbedding has none. _compute_proportional_rope_parameters of Transformers divides by it.
"""

import sys

import torch
from compiled import configuration
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from vllm.config import set_current_vllm_config
from vllm.model_executor.layers.rotary_embedding import get_rope

PARAMETERS = {"rope_type": "proportional", "rope_theta": 10000.0, "partial_rotary_factor": 0.5, "factor": 8.0}
model = LlamaConfig(
    hidden_size=64, num_attention_heads=1, head_dim=64, max_position_embeddings=1024, rope_parameters=PARAMETERS
)
expected, _ = ROPE_INIT_FUNCTIONS["proportional"](model, torch.device("cpu"))
with set_current_vllm_config(configuration([], "eager")):
    rope = get_rope(64, 1024, rope_parameters=PARAMETERS, dtype=torch.float32)
got = rope._compute_inv_freq(rope.base)
print(expected, got, sep="\n")
sys.exit(not torch.allclose(expected, got))
