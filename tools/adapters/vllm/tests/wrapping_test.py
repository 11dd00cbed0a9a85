"""Programs under vLLM's decorator, its compile cache, and Python's spelling: wrapping_test.py GRAPHGATE GOLDEN."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from graphgate_vllm import environment  # noqa: E402

environment.prepare()

import torch  # noqa: E402

from graphgate_adapter import graph_text, module  # noqa: E402
from graphgate_vllm import backend, wrapping  # noqa: E402

# Three pieces, each with the symbol, where relu splits.
_SIZED = """program "p" {
  symbol s0 in [1, 64] hint 4
  parameter %w "w.0" : f32[4]
  buffer %s "s" : f32[]
  input %x : f32[s0, 4]
  %t : f32[] = aten.add_.Tensor(%s, 1.0)
  %a : f32[s0, 4] = aten.mul.Tensor(%x, FACTOR)
  %b : f32[s0, 4] = aten.relu.default(%a)
  %c : f32[s0, 4] = aten.add.Tensor(%b, %w)
  %d : f32[s0, 4] = aten.add.Tensor(%c, %t)
  output %d
  output %b
}
"""

_CHOOSING = """program "p" {
  symbol s0 in [2, 64] hint 4
  input %x : f32[s0]
  graph @yes {
    input %y : f32[s0]
    %z = aten.neg.default(%y)
    output %z
  }
  graph @no {
    input %y : f32[s0]
    %z = aten.exp.default(%y)
    output %z
  }
  %s : f32[] = aten.sum.default(%x)
  %p : bool[] = aten.gt.Scalar(%s, 0.0)
  %c : f32[s0] = higher_order.cond(%p, @yes, @no, [%x])
  output %c
}
"""

_ADDING = """program "p" {
  symbol s0 in [2, 64] hint 4
  input %x : f32[s0]
  input %y : f32[s0]
  %c : f32[s0] = aten.add.Tensor(%x, %y)
  output %c
}
"""

_TWO_SYMBOLS = """program "p" {
  symbol s0 in [2, 64] hint 4
  symbol s1 in [2, 64] hint 3
  input %x : f32[s0]
  input %y : f32[s1]
  %c : f32[s0] = aten.neg.default(%x)
  %d : f32[s1] = aten.neg.default(%y)
  output %c
  output %d
}
"""

# A piece that has no size, between two that have one.
_PIECE_WITHOUT_SIZE = """program "p" {
  symbol s0 in [2, 64] hint 4
  buffer %s "s" : f32[3]
  input %x : f32[s0]
  %a : f32[s0] = aten.relu.default(%x)
  %t : f32[3] = aten.add_.Tensor(%s, 1.0)
  %b : f32[s0] = aten.relu.default(%a)
  output %b
}
"""

_SPELLED = """program "p" {
  symbol s0 in [2, 64] hint 4
  input %x : f32[s0, 3, 4]
  input %rows : i64[2]
  input %one : i64[]
  %n : symint = aten.sym_size.int(%x, 0)
  %a : f32[s0, 2, 4] = aten.index.Tensor(%x, [None, %rows])
  %b : f32[s0, 3, 2] = aten.slice.Tensor(%x, 2, 1, 3)
  %c : f32[3, 4] = aten.select.int(%x, 0, -1)
  %d : f32[3, 4] = aten.index.Tensor(%x, [%one])
  %e : f32[s0, 12] = aten.view.default(%x, [%n, 12])
  output %a
  output %b
  output %c
  output %d
  output %e
}
"""

_ROWS = """program "p" {
  input %x : f32[3, 4]
  input %i : i64[2]
  %h : f32[3, 4] = aten.add.Tensor(%x, 1.0)
  %s : f32[3, 4] = aten.mul_.Tensor(%h, 3.0)
  %o : f32[2, 4] = aten.index.Tensor(%h, [%i])
  output %o
}
"""


def _states(graph):
    made = {"w.0": torch.arange(4.0)} | {"s": torch.zeros([]) if "s0, 4" in graph.text else torch.zeros(3)}
    return {each.target: made[each.target] for each in graph.inputs if each.kind != "user"}


class _Program:
    """A program twice: as it is, and compiled."""

    def __init__(self, text, options=None, **settings):
        graph = graph_text.parse(text)
        devices = module.Devices(graph, "cpu")
        self.vllm = backend.Vllm(backend.Settings(**{"split": ["aten::relu"]} | settings))
        self.eager = module.build(graph, _states(graph), devices)
        self.built = module.build(graph, _states(graph), devices, self.vllm.spelling)
        self.run = self.vllm.compile(self.built, options or {})

    def call(self, *inputs):
        """Whether a call gives what eager mode gives, and leaves the same states."""
        other = [each.clone() for each in inputs]
        with torch.no_grad():
            got, expected = self.run(*inputs), self.eager(*other)
        states = zip(self.built.buffers(), self.eager.buffers(), strict=True)
        pairs = [*zip(got, expected, strict=True), *zip(inputs, other, strict=True), *states]
        return all(torch.equal(a, b) for a, b in pairs)


def _wrapped(text=_SIZED.replace("FACTOR", "2.0"), options=None, **settings):
    return _Program(text, options, wrapper="support_torch_compile", **settings)


class Wrapping(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()

    def _agrees(self, program, sizes=(4, 7, 1)):
        for size in sizes:
            self.assertTrue(program.call(torch.randn(size, 4)), size)

    def test_a_program_is_traced_once_and_right_for_each_size(self):
        traces = wrapping.compilation_counter.num_graphs_seen
        program = _wrapped(compiler="eager")
        self._agrees(program)
        self.assertEqual(wrapping.compilation_counter.num_graphs_seen, traces + 1)
        # Also where Dynamo has forgotten all, as it does before another program is compiled.
        torch._dynamo.reset()
        self._agrees(program)
        self.assertEqual(wrapping.compilation_counter.num_graphs_seen, traces + 1)

    def test_states_that_are_bound_anew_are_read(self):
        program = _wrapped(compiler="eager")
        self._agrees(program, [4])
        for each in (program.built, program.eager):
            each.register_buffer("state_s", torch.tensor(40.0))
        self._agrees(program, [4, 5])

    def test_arms_of_conditionals_are_classes_of_the_file(self):
        program = _wrapped(_CHOOSING, compiler="eager")
        self.assertTrue(program.call(torch.ones(4)))
        self.assertTrue(program.call(-torch.ones(7)))

    def test_sizes_and_ranges_have_graphs_of_their_own(self):
        for settings, options, compiled in (
            ({"compile_sizes": [4, 7]}, {}, 3),
            ({}, {"compile-sizes": "5"}, 2),
            ({"compile_ranges": [(1, 5), (5, 17)]}, {}, 3),
            ({}, {"compile-range": "2:8"}, 2),  # vLLM has no range of 1 alone
        ):
            with self.subTest(settings=settings, options=options):
                torch._dynamo.reset()
                before = wrapping.compilation_counter.num_backend_compilations
                self._agrees(_wrapped(compiler="eager", options=options, **settings), (4, 7, 20))
                count = wrapping.compilation_counter.num_backend_compilations - before
                self.assertEqual(count, 2 * compiled)  # of two pieces

    def test_what_vllm_makes_no_promise_for_is_unsupported(self):
        program = _wrapped(_ADDING, compiler="eager")
        x = torch.ones(4)
        self.assertTrue(program.call(x, torch.ones(4)))
        with self.assertRaisesRegex(module.Unsupported, "drops a guard that does not hold: .*size"):
            program.call(torch.ones(4), torch.ones(1))
        with self.assertRaisesRegex(module.Unsupported, "other inputs share memory"):
            program.run(x, x[:])
        with self.assertRaisesRegex(module.Unsupported, "by one size, and 2 vary"):
            _wrapped(_TWO_SYMBOLS, compiler="eager", compile_sizes=[4])

    def test_a_piece_without_a_size_is_found(self):
        # Of this version: another may have mended it, and then this test tells so.
        program = _wrapped(_PIECE_WITHOUT_SIZE, compiler="eager", compile_sizes=[4])
        with self.assertRaisesRegex(AssertionError, "exactly one compiled range_entry"):
            program.call(torch.ones(4))
        self.assertFalse(program.vllm.refuses(AssertionError()))
        self.assertTrue(_wrapped(_PIECE_WITHOUT_SIZE, compiler="eager").call(torch.ones(4)))


class Cache(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()

    def test_what_was_kept_is_loaded(self):
        # Raises Unsupported where vLLM compiles again.
        counter = wrapping.compilation_counter
        for cache, artifacts in (("warm", "mega"), ("process", "aot"), ("process", "pieces")):
            with self.subTest(cache=cache, artifacts=artifacts):
                torch._dynamo.reset()
                before = counter.num_inductor_compiles
                program = _wrapped(compile_cache=cache, artifacts=artifacts)
                self.assertTrue(program.call(torch.randn(4, 4)))
                self.assertTrue(program.call(torch.randn(7, 4)))
                if cache == "process":
                    self.assertEqual(counter.num_inductor_compiles, before)

    def test_programs_of_one_folder_share_no_entry(self):
        with tempfile.TemporaryDirectory() as folder:
            for factor in ("2.0", "3.0", "2.0"):
                torch._dynamo.reset()
                program = _wrapped(_SIZED.replace("FACTOR", factor), {"cache": folder})
                self.assertTrue(program.call(torch.randn(4, 4)))
            files = [name for name in os.listdir(folder) if name.endswith(".py")]
            self.assertEqual(len(files), 2)

    def test_a_key_has_all_that_compiling_looks_at(self):
        def name(program, *inputs):
            return program.vllm._wrap(program.built, {})._name(inputs, [])

        plain = _wrapped()
        names = [
            name(plain, torch.ones(4, 4)), name(plain, torch.ones(5, 4)),
            name(plain, torch.ones(8, 4)[::2]), name(_wrapped(compile_sizes=[4]), torch.ones(4, 4)),
            name(_wrapped(_SIZED.replace("FACTOR", "3.0")), torch.ones(4, 4)),
        ]
        self.assertEqual(len(set(names)), len(names))
        self.assertEqual(name(plain, torch.ones(4, 4)), names[0])


class Spelling(unittest.TestCase):
    def setUp(self):
        torch._dynamo.reset()

    def test_python_says_the_same(self):
        inputs = torch.randn(4, 3, 4), torch.tensor([2, 0]), torch.tensor(1)
        for spelling in ("python", "mixed"):
            program = _Program(_SPELLED, compiler="eager", spelling=spelling)
            self.assertTrue(program.call(*inputs))
        code = _Program(_SPELLED, compiler="eager", spelling="python").built.code
        for words in (".size()", "slice(None, None, None), rows", "slice(1, 3, None)", "[-1]",
                      "aten.index.Tensor"):  # of a number, which would be a view
            self.assertIn(words.replace("rows", "in_1"), code)

    def test_rows_before_a_write_are_found(self):
        # Of this version: another may have mended it, and then this test tells so.
        for spelling, agrees in (("aten", True), ("python", False)):
            torch._dynamo.reset()
            program = _Program(_ROWS, {"split-op": "aten.mul_"}, compiler="eager", spelling=spelling)
            inputs = torch.ones(3, 4), torch.tensor([2, 0])
            self.assertEqual(program.call(*inputs), agrees)


if __name__ == "__main__":
    del sys.argv[1:3]
    unittest.main()
