"""Multimodal rotary embedding with YaRN turns text by other angles than YaRN does, and than Transformers does.

MRotaryEmbedding (model_executor/layers/rotary_embedding/mrope.py) makes its cache four times as long, and gives that
length to RotaryEmbeddingBase as max_position_embeddings. YaRNScalingRotaryEmbedding._compute_inv_freq reads it as the
length that the model was trained for. A model with mrope_section and rope_type "yarn", as Qwen2.5-VL for long contexts,
is meant.
"""

import sys

import torch
from compiled import configuration
from vllm.config import set_current_vllm_config
from vllm.model_executor.layers.rotary_embedding import get_rope

YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 1024}
with set_current_vllm_config(configuration([], "eager")):
    plain = get_rope(128, 4096, rope_parameters=YARN, dtype=torch.float32)
    multimodal = get_rope(128, 4096, rope_parameters={**YARN, "mrope_section": [16, 24, 24]}, dtype=torch.float32)
query, key, positions = torch.ones(3, 128), torch.ones(3, 128), torch.tensor([5, 100, 900])
expected = plain.forward_native(positions, query, key)[0]
got = multimodal.forward_native(positions.expand(3, 3), query, key)[0]
print("trained for", plain.max_position_embeddings, multimodal.max_position_embeddings, expected, got, sep="\n")
sys.exit(not torch.allclose(expected, got, atol=1e-3))
