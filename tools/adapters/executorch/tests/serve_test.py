"""ExecuTorch under graphgate's judges: serve_test.py GRAPHGATE GOLDEN_DIRECTORY."""

import json
import os
import shlex
import subprocess
import sys
import tempfile
import unittest

_ADAPTER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_FINDINGS = os.path.join(_ADAPTER, "findings")
GRAPHGATE = ""

_HEAD = 'graphgate-case 1\nname "tiny"\nseed 7\nprogram "p" {\n'

# Sizes differ from call to call, an input is written, a state carries over and is set.
_STATEFUL = _HEAD + """  symbol s0 in [2, 64] hint 4
  parameter %w "w" : f32[4, 4]
  buffer %count "count" : f32[4]
  input %x : f32[s0, 4]
  %a = aten.mm.default(%x, %w)
  %r = aten.relu.default(%a)
  %s = aten.sum.dim_IntList(%r, [0])
  %b = aten.add_.Tensor(%count, %s)
  %t = aten.add_.Tensor(%x, 1.0)
  %d = aten.exp.default(%x)
  %v = aten.view.default(%d, [-1])
  output %d
  output %b
  output %x
  output %v
}
weights "p" seed 3
scenario {
  call p s0=4
  call p s0=8
  call p s0=4 mode=eager
  swap-weights p seed=5
  call p s0=4
}
"""

# Slices of one value, which share memory in eager mode and are copies here.
_SHARED = _HEAD + """  input %x : f32[4, 4]
  %a = aten.neg.default(%x)
  %b = aten.select.int(%a, 0, 1)
  %c = aten.select.int(%x, 0, 2)
  output %a
  output %b
  output %c
}
scenario {
  call p
}
"""

_STRIDED = _HEAD + """  input %x : f32[4, 2]{1, 4}
  %a = aten.neg.default(%x)
  output %a
}
scenario {
  call p
}
"""

_BEYOND = _HEAD + """  input %x : f32[4]
  %a = aten.special_i1.default(%x)
  output %a
}
scenario {
  call p
}
"""

_REFUSED = _HEAD + """  input %x : f32[4]
  %a = aten.view.default(%x, [3])
  output %a
}
scenario {
  call p
}
"""

# Equal elements: whose kernels are an engine's own decides which of them stands first.
_TIES = _HEAD + """  input %x : f32[4, 16]
  %y : f32[4, 16] = aten.round.default(%x)
  %v : f32[4, 5], %i : i64[4, 5] = aten.topk.default(%y, 5, 1)
  %a : i64[4] = aten.argmax.default(%y, 1)
  %m : f32[4], %k : i64[4] = aten.max.dim(%y, 1)
  %g : f32[4, 5] = aten.gather.default(%x, 1, %i)
  output %v
  output %a
  output %m
  output %g
  output %i
}
scenario {
  call p
}
"""

_BROKEN = """import sys
import graphgate_executorch
from graphgate_adapter import threads
threads.import_numpy()
from graphgate_adapter import serve
from graphgate_executorch import backend, lowering
{plant}
serve.serve(backend.ExecuTorch(backend.Settings()), "cpu", "free")
"""

# Values lie over each other that are needed at one time.
_OVERLAPPING = """from executorch.exir import memory_planning
def broken(*arguments, **named):
    result = memory_planning.greedy(*arguments, **named)
    for each in result.spec_dict.values():
        each.mem_offset = 0
    return result
broken.__name__ = "broken"
lowering.greedy = broken
"""

_RAISING = """from executorch.exir import memory_planning
def broken(*arguments, **named): raise AssertionError("no such place")
lowering.greedy = broken
"""

_OURS = "lowering.Method.set_states = None\nlowering.Method.takes = None"


class Serve(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self._folder = folder.name

    def _write(self, name, text):
        path = os.path.join(self._folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def _check(self, executor, *cases, judges="exact,bounds,state,verifier"):
        report = os.path.join(self._folder, "report.json")
        ran = subprocess.run(
            [GRAPHGATE, "check", "--executor", executor, "--executor-timeout", "600", "--judges", judges,
             "--json", report, *cases],
            capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": _ADAPTER},
        )
        return ran.returncode, ran.stdout + ran.stderr

    def _serve(self, *words):
        return shlex.join([sys.executable, "-m", "graphgate_executorch", "serve", *words])

    def test_programs_pass_however_they_are_planned(self):
        texts = {"stateful.case": _STATEFUL, "shared.case": _SHARED, "ties.case": _TIES}
        cases = [self._write(name, text) for name, text in texts.items()]
        for words in ((), ("--planner", "naive"), ("--dynamic",), ("--keep-view-copies", "--reinplace")):
            with self.subTest(words=words):
                status, said = self._check(self._serve(*words), *cases)
                self.assertEqual(status, 0, said)

    def test_a_size_that_differs_is_lowered_once_where_it_is_dynamic(self):
        case = self._write("stateful.case", _STATEFUL)
        plans = {}
        for words in ((), ("--dynamic",)):
            log = os.path.join(self._folder, "log" + "".join(words))
            self._check(self._serve("--log", log, *words), case, judges="exact")
            with open(log, encoding="utf-8") as file:
                plans[words] = sum(json.loads(line)["own_plans"] for line in file)
        self.assertLess(plans[("--dynamic",)], plans[()])

    def test_what_is_not_taken_is_unsupported(self):
        for text, words in ((_STRIDED, "neither contiguous nor channels-last"), (_BEYOND, "to_edge: ")):
            status, said = self._check(self._serve(), self._write("drawn.case", text))
            self.assertEqual(status, 2, said)
            self.assertIn("UNSUPPORTED", said)
            self.assertIn(words, said)

    def test_what_eager_mode_refuses_is_refused(self):
        status, said = self._check(self._serve(), self._write("drawn.case", _REFUSED))
        self.assertNotIn(status, (0, 1), said)

    def test_what_executorch_loses_is_found(self):
        # Of 1.5.0: another version may have mended it, and then this test tells so.
        cases = [os.path.join(_FINDINGS, name) for name in ("copy-of-state.case", "two-conditionals.case")]
        status, said = self._check(self._serve(), *cases)
        self.assertEqual(status, 1, said)
        self.assertEqual(said.count("FAIL " + _FINDINGS), 2, said)

    def test_a_greeting_names_the_ops_that_are_taken(self):
        said = subprocess.run(
            [sys.executable, "-m", "graphgate_executorch", "serve"], text=True, check=True,
            input=json.dumps({"hello": {"protocol": 1, "exchange": self._folder}}) + "\n",
            stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": _ADAPTER},
        )
        taken = set(json.loads(said.stdout)["ops"])
        self.assertLessEqual({"aten.relu.default", "aten.einsum.default", "aten.pow.Tensor_Scalar", "higher_order.cond"}, taken)
        self.assertFalse({"aten.special_i1.default", "aten.sort.default", "higher_order.while_loop"} & taken)

    def _planted(self, plant):
        script = self._write("script.py", _BROKEN.format(plant=plant))
        return self._check(shlex.join([sys.executable, script]), self._write("drawn.case", _STATEFUL))

    def test_a_planner_that_puts_all_over_each_other_is_found(self):
        status, said = self._planted(_OVERLAPPING)
        self.assertEqual(status, 1, said)
        self.assertIn("(verifier)", said)
        self.assertRegex(said, "V3.(overlap|kept-bytes|in-place)")

    def test_errors_are_told_as_executorchs_or_as_the_adapters(self):
        status, said = self._planted(_RAISING)
        self.assertEqual(status, 1, said)
        self.assertIn("AssertionError: no such place", said)
        status, said = self._planted(_OURS)
        self.assertEqual(status, 3, said)
        self.assertIn("the adapter graphgate_executorch, not ExecuTorch: TypeError", said)

    def test_doctor_says_what_is_there(self):
        ran = subprocess.run(
            [sys.executable, "-m", "graphgate_executorch", "doctor"], capture_output=True, text=True,
            check=False, env=os.environ | {"PYTHONPATH": _ADAPTER},
        )
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        # An export draws a bar, and a bar has a thread: then each session would import anew.
        for words in ("ExecuTorch 1.", "plans by greedy", "plans by naive", "kernels", "sessions are forked"):
            self.assertIn(words, ran.stdout)


if __name__ == "__main__":
    GRAPHGATE = sys.argv.pop(1)
    sys.argv.pop(1)
    unittest.main()
