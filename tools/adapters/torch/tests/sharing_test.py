"""What programs that are loaded again share: sharing_test.py. Status 77 where there is no PyTorch."""

import os
import sys
import unittest

_ADAPTER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, _ADAPTER)

try:
    import torch
except ImportError:
    sys.exit(77)

from graphgate_torch import backends  # noqa: E402
from graphgate_adapter import graph_text, module, sharing  # noqa: E402
from graphgate_adapter.serve import Program, Refusal  # noqa: E402

_STATEFUL = """program "p" {
  buffer %s "s" : f32[4]
  input %x : f32[4]
  %a = aten.add.Tensor(%x, %s)
  %c = aten.add_.Tensor(%s, %a)
  output %a
}
"""
_ROWS = """program "p" {
  symbol s0 in [1, 64]
  input %x : f32[s0, 4]
  %a = aten.exp.default(%x)
  output %a
}
"""


class Sharing(unittest.TestCase):
    def setUp(self):
        self.pool = sharing.Pool()
        self.backend = backends.Compile({})

    def load(self, text, states, key="key", options=None):
        graph = graph_text.parse(text)
        devices = module.Devices(graph, "cpu")
        return Program(graph, states, devices, self.backend, options or {}, [], self.pool, key)

    def compiles(self, program, inputs, mode=None):
        """How many frames a call compiles, and what it returns."""
        before = sharing.compiled_frames()
        outputs = program.call(inputs, mode)
        return sharing.compiled_frames() - before, outputs

    def test_a_program_that_is_loaded_again_compiles_nothing(self):
        first = self.load(_STATEFUL, {"s": torch.ones(4)})
        self.assertEqual(self.compiles(first, [torch.ones(4)])[0], 1)
        plans, first.plans = first.plans, []
        first.close()
        again = self.load(_STATEFUL, {"s": torch.full((4,), 5.0)})
        frames, (output,) = self.compiles(again, [torch.ones(4)])
        self.assertEqual(frames, 0)
        # Its states are its own, and so is what the call leaves in them.
        torch.testing.assert_close(output, torch.full((4,), 6.0))
        torch.testing.assert_close(dict(again.states())["s"], torch.full((4,), 11.0))
        # It is told of the plans as if it had compiled.
        self.assertEqual([each.program for each in again.plans], [each.program for each in plans])
        self.assertEqual(len(plans), 1)

    def test_states_are_set_in_what_is_shared(self):
        first = self.load(_STATEFUL, {"s": torch.ones(4)})
        first.call([torch.ones(4)], None)
        first.close()
        again = self.load(_STATEFUL, {"s": torch.zeros(4)})
        again.set_state("s", torch.full((4,), 2.0), True)
        _, (output,) = self.compiles(again, [torch.ones(4)])
        torch.testing.assert_close(output, torch.full((4,), 3.0))
        again.set_state("s", torch.full((4,), 7.0), False)
        frames, (output,) = self.compiles(again, [torch.ones(4)])
        torch.testing.assert_close(output, torch.full((4,), 8.0))
        self.assertEqual(frames, 0)
        (output,) = again.call([torch.ones(4)], "eager")
        torch.testing.assert_close(output, torch.full((4,), 16.0))

    def test_two_that_are_loaded_at_once_share_nothing(self):
        first = self.load(_STATEFUL, {"s": torch.ones(4)})
        first.call([torch.ones(4)], None)
        first.close()
        one = self.load(_STATEFUL, {"s": torch.ones(4)})
        other = self.load(_STATEFUL, {"s": torch.ones(4)})
        for program in (one, other, one, other):
            program.call([torch.ones(4)], None)
        for program in (one, other):
            torch.testing.assert_close(dict(program.states())["s"], torch.full((4,), 7.0))

    def test_what_is_compiled_for_several_sizes_is_compiled_in_the_same_order_again(self):
        for _ in range(2):
            program = self.load(_ROWS, {})
            frames = [self.compiles(program, [torch.ones(rows, 4)])[0] for rows in (2, 3, 5)]
            self.assertEqual(frames, [1, 1, 0])
            program.close()

    def test_another_first_size_compiles_anew(self):
        first = self.load(_ROWS, {})
        self.assertEqual(self.compiles(first, [torch.ones(2, 4)])[0], 1)
        first.close()
        again = self.load(_ROWS, {})
        # As in a process of its own: one size, and the next is dynamic.
        frames = [self.compiles(again, [torch.ones(rows, 4)])[0] for rows in (3, 2, 7)]
        self.assertEqual(frames, [1, 1, 0])

    def test_another_layout_compiles_anew(self):
        first = self.load(_ROWS, {})
        first.call([torch.ones(2, 4)], None)
        first.close()
        again = self.load(_ROWS, {})
        self.assertEqual(self.compiles(again, [torch.ones(4, 2).t()])[0], 1)

    def test_programs_of_one_executor_are_all_shared(self):
        for expected in (1, 0):
            one = self.load(_STATEFUL, {"s": torch.ones(4)}, key="one")
            other = self.load(_ROWS, {}, key="other")
            self.assertEqual(self.compiles(one, [torch.ones(4)])[0], expected)
            self.assertEqual(self.compiles(other, [torch.ones(2, 4)])[0], expected)
            one.close()
            other.close()

    def test_another_key_forgets(self):
        first = self.load(_STATEFUL, {"s": torch.ones(4)})
        first.call([torch.ones(4)], None)
        first.close()
        self.load(_ROWS, {}, key="other").call([torch.ones(2, 4)], None)
        again = self.load(_STATEFUL, {"s": torch.ones(4)})
        self.assertEqual(self.compiles(again, [torch.ones(4)])[0], 1)

    def test_what_fails_is_not_shared(self):
        text = _ROWS.replace("aten.exp.default(%x)", "aten.mm.default(%x, %x)")
        for _ in range(2):
            program = self.load(text, {})
            with self.assertRaises(Refusal) as refused:
                program.call([torch.ones(2, 4)], None)
            self.assertEqual(refused.exception.kind, "bad input")
            self.assertFalse(program.plans)
            program.close()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
