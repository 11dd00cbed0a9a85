"""DeepSeek-V4's rotary embedding on ROCm turns forward where it is asked to turn back.

DeepseekV4ScalingRotaryEmbedding.forward_hip (model_executor/layers/rotary_embedding/deepseek_scaling_rope.py) takes
`inverse`, and does not hand it on: `return self.forward_native(positions, query, key, offsets)`. It runs no kernel, so
a CPU shows it.
"""

import sys

import torch
from compiled import configuration
from vllm.config import set_current_vllm_config
from vllm.model_executor.layers.rotary_embedding import get_rope

PARAMETERS = {
    "rope_type": "deepseek_yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 256,
    "mscale": 1.0, "mscale_all_dim": 1.0, "rope_dim": 16, "is_deepseek_v4": True,
}
with set_current_vllm_config(configuration([], "eager")):
    rope = get_rope(64, 1024, is_neox_style=False, rope_parameters=PARAMETERS, dtype=torch.float32)
positions, query = torch.tensor([1, 2, 3]), torch.arange(384.0).view(3, 2, 64)
turned, _ = rope.forward_native(positions, query, None)
expected, _ = rope.forward_native(positions, turned, None, inverse=True)
got, _ = rope.forward_hip(positions, turned, None, inverse=True)
print("there and back:", torch.allclose(query, expected, atol=1e-3), torch.allclose(query, got, atol=1e-3))
sys.exit(not torch.allclose(expected, got))
