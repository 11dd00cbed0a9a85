"""What Inductor's passes leave of a graph, run node by node: passes_test.py. Status 77 where there is no PyTorch."""

import os
import sys
import unittest
from unittest import mock

_ADAPTER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [_ADAPTER, os.path.join(os.path.dirname(_ADAPTER), "common")]

try:
    import torch
except ImportError:
    sys.exit(77)

from torch._inductor import compile_fx, lowering  # noqa: E402
from torch._inductor.fx_passes import joint_graph, post_grad  # noqa: E402

from graphgate_adapter.errors import innermost  # noqa: E402
from graphgate_adapter.module import Unsupported  # noqa: E402
from graphgate_torch import backends  # noqa: E402


class Sums(torch.nn.Module):
    def forward(self, x, y):
        z = x.transpose(0, 1) + y
        return z, torch.softmax(z * 0.5, -1), z[1:]


class Arms(torch.nn.Module):
    def forward(self, x, y):
        return torch.cond(y.sum() > 0, lambda a: a + 1, lambda a: a * 2, (x,))


class Passes(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()
        self.inputs = torch.arange(12.0).reshape(4, 3), torch.ones(3, 4)

    def run_compiled(self, module=None):
        with torch.no_grad():
            return backends.Passes({}).compile(module or Sums(), {})(*self.inputs)

    def test_they_leave_what_eager_mode_computes(self):
        for result, expected in zip(self.run_compiled(), Sums()(*self.inputs), strict=True):
            torch.testing.assert_close(result, expected)
            self.assertEqual(result.stride(), expected.stride())

    def test_no_kernel_is_made(self):
        with mock.patch.object(compile_fx, "fx_codegen_and_compile", side_effect=AssertionError):
            self.run_compiled()

    def _subtract(self, graph):
        for node in graph.find_nodes(op="call_function", target=torch.ops.aten.add.Tensor):
            node.target = torch.ops.aten.sub.Tensor

    def test_what_a_pass_over_the_joint_graph_breaks_shows(self):
        original = joint_graph.joint_graph_passes

        def broken(graph, *rest):
            graph = original(graph, *rest)
            self._subtract(graph.graph)
            return graph

        with mock.patch.object(compile_fx, "joint_graph_passes", broken):
            result = self.run_compiled()[0]
        torch.testing.assert_close(result, self.inputs[0].T - self.inputs[1])

    def test_what_a_pass_behind_breaks_shows(self):
        original = post_grad.remove_noop_ops

        def broken(graph):
            original(graph)
            self._subtract(graph)

        with mock.patch.object(post_grad, "remove_noop_ops", broken):
            result = self.run_compiled()[0]
        torch.testing.assert_close(result, self.inputs[0].T - self.inputs[1])

    def _a_lowering_is_not_taken(self, program):
        def lowered(x, y):
            return lowering.lowerings[torch.ops.aten.add.Tensor](x, y)

        lowered._inductor_lowering_function = True
        original = compile_fx._recursive_post_grad_passes

        def replace(graph, **named):
            with mock.patch.object(compile_fx, "_recursive_post_grad_passes", original):
                original(graph, **named)
            for module in filter(lambda each: isinstance(each, torch.fx.GraphModule), graph.modules()):
                for node in module.graph.find_nodes(op="call_function", target=torch.ops.aten.add.Tensor):
                    node.target = lowered

        with mock.patch.object(compile_fx, "_recursive_post_grad_passes", replace):
            with self.assertRaises(Exception) as raised:
                self.run_compiled(program)
        self.assertIsInstance(innermost(raised.exception), Unsupported)

    def test_a_lowering_in_the_place_of_nodes_is_not_taken(self):
        self._a_lowering_is_not_taken(Sums())

    def test_nor_is_one_in_an_arm(self):
        self._a_lowering_is_not_taken(Arms())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
