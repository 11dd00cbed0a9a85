"""What vLLM compiled for a program that is loaded again: sharing_test.py GRAPHGATE GOLDEN."""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from graphgate_vllm import environment  # noqa: E402

environment.prepare()

import torch  # noqa: E402

from graphgate_adapter import graph_text, module, sharing  # noqa: E402
from graphgate_adapter.serve import Program  # noqa: E402
from graphgate_vllm import backend  # noqa: E402

_TEXT = """program "p" {
  buffer %s "s" : f32[4]
  input %x : f32[4]
  %a : f32[4] = aten.add.Tensor(%x, %s)
  %b : f32[4] = aten.relu.default(%a)
  %c : f32[4] = aten.add_.Tensor(%s, %b)
  output %b
}
"""


class Sharing(unittest.TestCase):
    def _frames(self, pool, engine, state):
        """How many frames a program compiles that is loaded, called once and closed; what it returns and leaves."""
        graph = graph_text.parse(_TEXT)
        devices = module.Devices(graph, "cpu")
        key = "key" if engine.can_share("cpu", {}) else None
        program = Program(
            graph, {"s": torch.full((4,), state)}, devices, engine, {"split-op": "aten.relu"}, [], pool, key)
        before = sharing.compiled_frames()
        (output,) = program.call([torch.ones(4)], None)
        frames = sharing.compiled_frames() - before
        program.close()
        return frames, output[0].item(), program.states()[0][1][0].item()

    def test_a_program_that_is_loaded_again_compiles_nothing(self):
        # Dynamo's counters leave out what is compiled with fullgraph=True, and that is all of vLLM's.
        pool, engine = sharing.Pool(), backend.Vllm(backend.Settings(compiler="eager"))
        self.assertEqual(self._frames(pool, engine, 0.0), (1, 1.0, 1.0))
        self.assertEqual(self._frames(pool, engine, 5.0), (0, 6.0, 11.0))

    def test_what_comes_from_a_cache_or_has_graphs_is_not_shared(self):
        for settings in (
            backend.Settings(compiler="eager", wrapper="support_torch_compile"),
            backend.Settings(compiler="eager", cudagraph_mode="full"),
        ):
            self.assertFalse(backend.Vllm(settings).can_share("cpu", {}))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
