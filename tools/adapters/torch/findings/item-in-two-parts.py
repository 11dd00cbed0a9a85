"""A number that the program takes from a tensor, and uses as an index, with CUDA graphs: the second call raises.

Graph partition hands the part behind `item()` the buffer of `DynamicScalar`, which nobody allocates: None.
`CUDAGraphNode._allocate_and_copy_recording_inputs` in `torch/_inductor/cudagraph_trees.py` takes tensors,
numbers and generators alone. Without a captured part, and in the first calls, the program runs.
"""

import sys

import torch

torch._dynamo.config.capture_scalar_outputs = True


def function(counts, x):
    index = counts.sum().item()
    torch._check(index >= 0)
    torch._check(index < 4)
    return x[index] * 2


compiled = torch.compile(function, mode="reduce-overhead")
counts = torch.tensor([1, 0], device="cuda")
x = torch.randn(4, 4, device="cuda")
try:
    for _ in range(4):
        result, expected = compiled(counts, x).clone(), function(counts, x)
        if not torch.equal(result, expected):
            print(result, expected)
            sys.exit(1)
except AssertionError as error:
    print("AssertionError", error)
    sys.exit(1)
