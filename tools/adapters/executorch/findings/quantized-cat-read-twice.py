"""What reads a joined tensor beside its quantization gets the quantized bytes in its place.

_fuse_quantized_cat (exir/passes/quant_fusion_pass.py) has `cat` join the bytes and takes both casts out, and does not ask who
else reads the joined floats. quant_fusion_and_const_prop_pass runs it, for the quantized ops of the portable kernels.
"""

import sys

import torch
from executorch.exir import EdgeCompileConfig, to_edge
from executorch.exir.passes.quant_fusion_pass import quant_fusion_and_const_prop_pass
from torch.ao.quantization.fx import _decomposed  # noqa: F401 (registers quantized_decomposed)

OPS = torch.ops.quantized_decomposed
HOW = (0.5, 0, -128, 127, torch.int8)


class Module(torch.nn.Module):
    def forward(self, a, b):
        joined = torch.cat([OPS.dequantize_per_tensor(a, *HOW), OPS.dequantize_per_tensor(b, *HOW)])
        return OPS.quantize_per_tensor(joined, *HOW), joined * 2.0


inputs = torch.tensor([10, 20], dtype=torch.int8), torch.tensor([30, 40], dtype=torch.int8)
edge = to_edge(torch.export.export(Module(), inputs), compile_config=EdgeCompileConfig(_check_ir_validity=False))
fused = quant_fusion_and_const_prop_pass(edge.exported_program())
expected, got = Module()(*inputs), fused.module()(*inputs)
print(expected, got, sep="\n")
sys.exit(not all(torch.equal(a, b) for a, b in zip(expected, got, strict=True)))
