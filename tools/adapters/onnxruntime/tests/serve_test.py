"""ONNX Runtime under graphgate's judges: serve_test.py GRAPHGATE GOLDEN_DIRECTORY."""

import json
import os
import shlex
import subprocess
import sys
import tempfile
import unittest

_ADAPTER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GRAPHGATE = ""

_CASE = """graphgate-case 1
name "tiny"
seed 7
{options}program "p" {{
{body}}}
{weights}scenario {{
  call p
  call p
}}
"""

# A counter and a cache that are written, an input that is written, outputs that share memory.
_STATE = """  buffer %count "count" : i64[]
  buffer %cache "cache" : f32[4, 3]
  input %x : f32[4, 3]
  input %scale : f32[3]
  %one : i64[] = aten.add_.Tensor(%count, 1)
  %y : f32[4, 3] = aten.mul.Tensor(%x, %scale)
  %kept : f32[4, 3] = aten.add_.Tensor(%cache, %y)
  %x2 : f32[4, 3] = aten.mul_.Tensor(%x, 2.0)
  %flat : f32[12] = aten.view.default(%y, [12])
  %part : f32[5] = aten.slice.Tensor(%flat, 0, 2, 7)
  %row : f32[3] = aten.select.int(%kept, 0, 1)
  output %y
  output %part
  output %row
  output %x2
"""

# Numbers without dimensions that share memory, and whose elements have several bytes.
_SCALAR = """  buffer %count "count" : f32[]
  input %x : f32[]
  %one : f32[] = aten.add_.Tensor(%count, 1.0)
  %y : f32[] = aten.mul.Tensor(%x, %one)
  output %one
  output %y
"""

_SIXTEEN = """  input %x : bf16[4, 3]
  input %h : f16[4, 3]
  %y : f32[4, 3] = aten._to_copy.default(%x, dtype=f32)
  %z : f32[4, 3] = aten.exp.default(%y)
  %w : bf16[4, 3] = aten._to_copy.default(%z, dtype=bf16)
  %v : f16[4, 3] = aten.add.Tensor(%h, 1.0)
  %e : f32[0, 3] = aten.slice.Tensor(%y, 0, 0, 0)
  %e2 : f32[0, 3] = aten.clone.default(%e)
  output %w
  output %v
  output %e2
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

_COMPLEX = """  input %x : f32[4]
  %c : c64[4] = aten._to_copy.default(%x, dtype=c64)
  output %c
"""

_ASKING = """  input %x : f32[4]
  %n = aten.nonzero.default(%x)
  output %n
"""

# Equal elements: whose kernels are an engine's own decides which of them stands first.
_TIES = """  input %x : f32[4, 16]
  %y : f32[4, 16] = aten.round.default(%x)
  %v : f32[4, 5], %i : i64[4, 5] = aten.topk.default(%y, 5, 1)
  %w : f32[4, 16], %j : i64[4, 16] = aten.sort.default(%y, 1, True)
  %a : i64[4] = aten.argmax.default(%y, 1)
  %m : f32[4], %k : i64[4] = aten.max.dim(%y, 1)
  %g : f32[4, 5] = aten.gather.default(%x, 1, %i)
  output %v
  output %a
  output %m
  output %g
  output %w
  output %j
  output %i
"""

_BROKEN = """import graphgate_onnxruntime
from graphgate_onnxruntime import backend, exporting, running
from graphgate_adapter import serve
{plant}
serve.serve(backend.OnnxRuntime(backend.Settings()), "cpu", "free")
"""

# One element of the last output is another one.
_WRONG = """run = running.Session.run
def wrong(*words):
    made = run(*words)
    made[-1].view(-1)[0] += 1
    return made
running.Session.run = wrong
"""

# What the program writes is not written back.
_FORGETFUL = """make = exporting.export
def forgets(*words):
    model = make(*words)
    model.writes = model.writes[:-1]
    return model
exporting.export = forgets
"""

_OURS = "exporting.export = None"


class Serve(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)

    def _write(self, name, text):
        path = os.path.join(self._folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def _check(self, executor, body, options=()):
        said = "".join(f'option "{name}" "{value}"\n' for name, value in options)
        case = self._write("drawn.case", _CASE.format(
            options=said, body=body, weights='weights "p" seed 3\n' if "buffer" in body else ""))
        path = os.path.join(self._folder.name, "report.json")
        return subprocess.run(
            [GRAPHGATE, "check", "--executor", executor, "--executor-timeout", "600", "--judges",
             "exact,bounds,state", "--json", path, case],
            capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": _ADAPTER},
        )

    def _expect(self, status, body, *words, options=()):
        executor = shlex.join([sys.executable, "-m", "graphgate_onnxruntime", "serve", *words])
        ran = self._check(executor, body, options)
        self.assertEqual(ran.returncode, status, ran.stdout + ran.stderr)
        return ran.stdout

    def test_programs_pass_however_memory_is_had(self):
        for body, words, options in (
            (_STATE, (), ()),
            (_STATE, ("--io-binding", "--mem-pattern", "off"), ()),
            (_STATE, ("--optimization", "none", "--mem-reuse", "off"), [("no-reuse", "true")]),
            (_SCALAR, (), ()),
            (_SIXTEEN, (), ()),
            (_SIXTEEN, ("--io-binding", "--optimization", "basic"), ()),
            (_CHOOSING, (), ()),
            (_STATE, ("--runner", "reference"), ()),
            (_TIES, (), ()),
        ):
            with self.subTest(words=words, body=body):
                self._expect(0, body, *words, options=options)

    def test_what_cannot_be_said_in_a_model_is_unsupported(self):
        for body in (_COMPLEX, _ASKING):
            self.assertIn("UNSUPPORTED", self._expect(2, body))

    def test_a_greeting_names_the_ops_that_are_taken(self):
        said = subprocess.run(
            [sys.executable, "-m", "graphgate_onnxruntime", "serve"], text=True, check=True,
            input=json.dumps({"hello": {"protocol": 1, "exchange": self._folder.name}}) + "\n",
            stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": _ADAPTER},
        )
        taken = set(json.loads(said.stdout)["ops"])
        self.assertLessEqual({"aten.relu.default", "aten.einsum.default", "higher_order.cond", "_operator.add"}, taken)
        self.assertFalse({"aten.nonzero.default", "aten.special_airy_ai.default", "aten.view_as_real.default"} & taken)

    def _planted(self, plant, body):
        script = self._write("script.py", _BROKEN.format(plant=plant))
        return self._check(shlex.join([sys.executable, script]), body)

    def test_wrong_values_are_found(self):
        ran = self._planted(_WRONG, _STATE)
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)

    def test_an_element_of_a_lower_rank_is_no_tie(self):
        ran = self._planted(_WRONG, _TIES)
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)

    def test_a_write_that_is_not_written_back_is_found(self):
        ran = self._planted(_FORGETFUL, _STATE)
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)

    def test_errors_of_the_adapter_are_not_the_engines(self):
        ran = self._planted(_OURS, _STATE)
        self.assertEqual(ran.returncode, 3, ran.stdout + ran.stderr)
        self.assertIn("the adapter graphgate_onnxruntime, not ONNX Runtime", ran.stdout + ran.stderr)


if __name__ == "__main__":
    GRAPHGATE = sys.argv.pop(1)
    sys.argv.pop(1)
    unittest.main()
