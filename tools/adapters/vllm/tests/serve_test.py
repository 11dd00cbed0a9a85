"""vLLM under graphgate's judges: serve_test.py GRAPHGATE GOLDEN_DIRECTORY."""

import json
import os
import shlex
import subprocess
import sys
import tempfile
import unittest

_ADAPTER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GRAPHGATE = ""

_HEAD = """graphgate-case 1
name "tiny"
seed 7
{options}program "p" {{
"""
_TAIL = """}
scenario {
  call p
  call p
}
"""

_ATTENTION = """  symbol s0 in [1, 64] hint 4
  parameter %w "w" : f32[8, 24]
  buffer %count "count" : i64[]
  input %x : f32[s0, 8]
  %n : symint = aten.sym_size.int(%x, 0)
  %one : i64[] = aten.add_.Tensor(%count, 1)
  %qkv : f32[s0, 24] = aten.mm.default(%x, %w)
  %q : f32[s0, 8] = aten.slice.Tensor(%qkv, 1, 0, 8)
  %k : f32[s0, 8] = aten.slice.Tensor(%qkv, 1, 8, 16)
  %v : f32[s0, 8] = aten.slice.Tensor(%qkv, 1, 16, 24)
  %q3 : f32[s0, 2, 4] = aten.view.default(%q, [%n, 2, 4])
  %k3 : f32[s0, 2, 4] = aten.view.default(%k, [%n, 2, 4])
  %v3 : f32[s0, 2, 4] = aten.view.default(%v, [%n, 2, 4])
  %o : f32[s0, 2, 4] = aten.empty.memory_format([%n, 2, 4], dtype=f32)
  vllm.unified_attention_with_output.default(%q3, %k3, %v3, %o, "layers.0")
  %f : f32[s0, 8] = aten.view.default(%o, [%n, 8])
  %y : f32[s0, 8] = aten.add.Tensor(%f, %x)
  output %y
  output %q
"""

# What vLLM 0.33.0 writes over the caller's tensors: the copies before the op are taken out.
_OVERWRITTEN = """  parameter %w "w" : f32[4]
  input %x : f32[3, 4]
  input %r : f32[3, 4]
  %a : f32[3, 4] = aten.clone.default(%x)
  %b : f32[3, 4] = aten.clone.default(%r)
  vllm.fused_add_rms_norm.default(%a, %b, %w, 1e-05)
  output %a
  output %b
"""

_NORMS = """  parameter %w "w" : f32[4]
  input %x : f32[3, 4]
  input %r : f32[3, 4]
  %a : f32[3, 4] = aten.mul.Tensor(%x, 1.5)
  %b : f32[3, 4] = aten.add.Tensor(%r, 1.0)
  vllm.fused_add_rms_norm.default(%a, %b, %w, 1e-05)
  %g : f32[3, 2] = aten.empty.memory_format([3, 2], dtype=f32)
  vllm.silu_and_mul.default(%g, %a)
  output %g
  output %b
"""

_WRAPPED = """  input %x : f32[3, 4]
  %e : f32[3, 2] = aten.zeros.default([3, 2], dtype=f32)
  %n : none, %g : f32[3, 2] = higher_order.auto_functionalized_v2(vllm.silu_and_mul.default, input=%x, _out_base_index=0, _out_size=[3, 2], _out_stride=[2, 1], _out_storage_offset=0, _all_bases=[%e])
  output %g
"""

_CHOOSING = """  input %x : f32[4]
  graph @yes {
    input %y : f32[4]
    %z = aten.neg.default(%y)
    output %z
  }
  graph @no {
    input %y : f32[4]
    %z = aten.exp.default(%y)
    output %z
  }
  %s : f32[] = aten.sum.default(%x)
  %p : bool[] = aten.gt.Scalar(%s, 0.0)
  %c : f32[4] = higher_order.cond(%p, @yes, @no, [%x])
  output %c
"""

_ASKING = """  input %x : f32[4]
  %n = aten.nonzero.default(%x)
  %i = aten.sum.default(%n)
  output %i
"""

_WRAPPER = ("--wrapper", "support_torch_compile")

_BROKEN = """import sys
from graphgate_vllm import environment
environment.prepare()
from graphgate_vllm import backend, graph_ops
from graphgate_adapter import serve
{plant}
serve.serve(backend.Vllm(backend.Settings(compiler="eager", cudagraph_mode={mode!r})), "cpu")
"""

# The memory of inputs does not stay: a replay reads where the first call's inputs lay.
_MOVING = """from graphgate_vllm import memory
memory.Static.fill = lambda this, inputs: list(inputs)
"""

_FAILING = """import vllm.compilation.backends as b
def fail(*words): raise AssertionError("no such split")
b.split_graph = fail
"""

_WORDLESS = """import vllm.compilation.backends as b
def fail(*words):
    assert not words
b.split_graph = fail
"""

_OURS = "backend.Vllm._choose_passes = None"


class Serve(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)

    def _write(self, name, text):
        path = os.path.join(self._folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def _case(self, body, *options):
        said = "".join(f'option "{name}" "{value}"\n' for name, value in options)
        tail = _TAIL.replace("scenario", 'weights "p" seed 3\nscenario') if '"w"' in body else _TAIL
        return self._write("drawn.case", _HEAD.format(options=said) + body + tail)

    def _check(self, executor, case, judges="exact,bounds,state"):
        path = os.path.join(self._folder.name, "report.json")
        ran = subprocess.run(
            [GRAPHGATE, "check", "--executor", executor, "--executor-timeout", "600", "--judges",
             judges, "--json", path, case],
            capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": _ADAPTER},
        )
        with open(path, encoding="utf-8") as file:
            return ran, json.load(file)

    def _expect(self, status, body, *words, options=()):
        executor = shlex.join([sys.executable, "-m", "graphgate_vllm", "serve", *words])
        ran, _ = self._check(executor, self._case(body, *options))
        self.assertEqual(ran.returncode, status, ran.stdout + ran.stderr)
        return ran.stdout

    def test_programs_pass_however_they_are_cut_and_captured(self):
        for body, words, options in (
            (_ATTENTION, ("--compiler", "eager", "--cudagraph-mode", "full_and_piecewise"), ()),
            (_ATTENTION, (), ()),
            (_ATTENTION, ("--mode", "stock", "--compiler", "eager"), ()),
            (_NORMS, (), [("split-op", "vllm.fused_add_rms_norm,aten.mul.Tensor")]),
            (_NORMS, ("--partition", "scheduler", "--split", "_C::silu_and_mul"), ()),
            (_WRAPPED, ("--compiler", "eager"), ()),
            (_CHOOSING, ("--compiler", "eager"), ()),
            (_ATTENTION, ("--compiler", "eager", *_WRAPPER, "--spelling", "python"), ()),
            (_ATTENTION, (*_WRAPPER, "--compile-cache", "warm"), ()),
        ):
            with self.subTest(words=words, body=body):
                self._expect(0, body, *words, options=options)

    def test_what_a_pass_overwrites_is_found(self):
        # Of this version: another may have mended it, and then this test tells so.
        said = self._expect(1, _OVERWRITTEN)
        self.assertIn("T2.undeclared-write", said)
        self._expect(0, _OVERWRITTEN, "--compiler", "eager")

    def test_flags_that_do_not_go_together_are_told(self):
        for words, said in (
            (("--compile-cache", "warm"), "--compile-cache goes with --wrapper"),
            (("--compile-sizes", "4"), "--compile-sizes goes with --wrapper"),
            ((*_WRAPPER, "--mode", "stock"), "--wrapper goes with --mode vllm-compile"),
            ((*_WRAPPER, "--compile-cache", "warm", "--compiler", "eager"),
             "vLLM keeps nothing of eager pieces"),
        ):
            ran = subprocess.run(
                [sys.executable, "-m", "graphgate_vllm", "serve", *words], capture_output=True, text=True,
                check=False, env=os.environ | {"PYTHONPATH": _ADAPTER}, stdin=subprocess.DEVNULL,
            )
            self.assertEqual((ran.returncode, ran.stdout), (2, ""), ran.stderr)
            self.assertIn(said, ran.stderr)

    def test_what_is_not_captured_is_unsupported(self):
        for body in (_CHOOSING, _ASKING):
            said = self._expect(2, body, "--compiler", "eager", "--cudagraph-mode", "full")
            self.assertIn("UNSUPPORTED", said)
        said = self._expect(
            2, _NORMS, "--compiler", "eager", "--cudagraph-mode", "piecewise",
            options=[("split-op", "aten.mul.Tensor")])
        self.assertIn("returns new memory in each call", said)

    def _planted(self, plant, body, mode="none"):
        script = self._write("script.py", _BROKEN.format(plant=plant, mode=mode))
        return self._check(shlex.join([sys.executable, script]), self._case(body))[0]

    def test_a_stale_address_is_found(self):
        ran = self._planted(_MOVING, _ATTENTION, "piecewise")
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
        self.assertIn("E1.exact", ran.stdout)

    def test_errors_are_told_as_vllms_or_as_the_adapters(self):
        # Eager mode is asked, too: attention runs there.
        for program in (_NORMS, _ATTENTION):
            ran = self._planted(_FAILING, program)
            self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
            self.assertIn("no such split", ran.stdout)
        ran = self._planted(_WORDLESS, _NORMS)
        self.assertRegex(ran.stdout, r"AssertionError: \S+:\d+: assert not words")
        ran = self._planted(_OURS, _NORMS)
        self.assertEqual(ran.returncode, 3, ran.stdout + ran.stderr)
        self.assertIn("the adapter graphgate_vllm, not vLLM: TypeError", ran.stdout + ran.stderr)

    def test_doctor_says_what_is_there(self):
        ran = subprocess.run(
            [sys.executable, "-m", "graphgate_vllm", "doctor"], capture_output=True, text=True,
            check=False, env=os.environ | {"PYTHONPATH": _ADAPTER},
        )
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        for words in ("VllmBackend compiles, with pieces by eager", "pieces by inductor", "vLLM "):
            self.assertIn(words, ran.stdout)


if __name__ == "__main__":
    GRAPHGATE = sys.argv.pop(1)
    sys.argv.pop(1)
    unittest.main()
