"""A module lowered to ExecuTorch and loaded, as its users do it: what the scripts beside this file share.

    run = lowered(module, inputs, alloc_graph_input=False)

Named arguments are those of MemoryPlanningPass, but for `reinplace` (run_reinplace_pass). States begin as the module has them
(InitializedMutableBufferPass): without that ExecuTorch has them begin as nothing.
"""

import copy
import warnings

import torch
from executorch.exir import ExecutorchBackendConfig, to_edge
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
from executorch.runtime import Runtime

warnings.simplefilter("ignore")
torch.set_grad_enabled(False)


def lowered(module, inputs, reinplace=False, **planning):
    program = to_edge(torch.export.export(copy.deepcopy(module), inputs)).to_executorch(ExecutorchBackendConfig(
        passes=[InitializedMutableBufferPass([""])], memory_planning_pass=MemoryPlanningPass(**planning),
        run_reinplace_pass=reinplace))
    content = program.buffer
    loaded = Runtime.get().load_program(content)
    method = loaded.load_method("forward")
    kept = content, loaded  # a method keeps neither alive, and reads both

    def run(*given):
        assert kept
        return method.execute([each.clone() for each in given])

    return run


def differs(module, inputs, calls=1, **planning):
    """Whether a call of what was lowered returns other values than eager mode; prints both."""
    eager, run = copy.deepcopy(module), lowered(module, inputs, **planning)
    found = False
    for _ in range(calls):
        expected = eager(*(each.clone() for each in inputs))
        expected = [expected] if isinstance(expected, torch.Tensor) else list(expected)
        got = run(*inputs)
        print(expected, got, sep="\n")
        found |= len(got) != len(expected) or not all(map(torch.allclose, got, expected))
    return found
