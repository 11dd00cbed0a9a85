"""A linear rotary embedding whose factor is an integer, as JSON has it, does not start.

LinearScalingRotaryEmbedding (model_executor/layers/rotary_embedding/linear_scaling_rope.py) makes a list of a float
alone: `isinstance(scaling_factors, float)`. The other embeddings take an integer.
"""

import sys

import torch
from compiled import configuration, error_of
from vllm.config import set_current_vllm_config
from vllm.model_executor.layers.rotary_embedding import get_rope

with set_current_vllm_config(configuration([], "eager")):
    parameters = {"rope_type": "linear", "rope_theta": 10000.0, "factor": 4}
    message = error_of(lambda: get_rope(64, 1024, rope_parameters=parameters, dtype=torch.float32))
print(message or "started")
sys.exit(bool(message))
