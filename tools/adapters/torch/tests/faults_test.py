"""Tests that a fault of the adapter, or of its recorder of plans, is put to nobody else: faults_test.py GRAPHGATE GOLDEN.

Ends with status 77, which ctest takes for skipped, where there is no PyTorch.
"""

import json
import os
import shlex
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import serve_test  # noqa: E402

# Each plants a fault, and serves.
_SERVE = """
from graphgate_torch import backends
from graphgate_adapter import serve
serve.serve(backends.Compile({settings}), "cpu")
"""

# The recorder raises, wherever it reads, and whatever.
_READING = """from graphgate_torch import inductor_reading

def fail(*words, **named):
    raise KeyError("buf0")

inductor_reading.Reading._follow = fail
"""

_NOTING = """from graphgate_torch import inductor_plan

def fail(*words, **named):
    raise StopIteration

inductor_plan.Recorder._note_owner = fail
inductor_plan.Recorder._note_lines = fail
"""

# Another version of Inductor: a function, a module or all that the recorder reads is gone.
_RENAMED = """from graphgate_torch import inductor_plan

class PythonWrapperCodegen:
    pass

inductor_plan.inductor_wrapper = type("wrapper", (), {"PythonWrapperCodegen": PythonWrapperCodegen})
"""

_GONE = """from graphgate_torch import inductor_plan
inductor_plan.inductor_graph = None
"""

_MOVED = """import sys
sys.modules["graphgate_torch.inductor_plan"] = None
"""

# A plan whose graph reads what it has not made.
_UNREADABLE = """from graphgate_torch import inductor_plan

right = inductor_plan.Recorded.message

def message(recorded):
    said = right(recorded)
    graph = said["graph"].replace("inductor.op0.default(%", "inductor.op0.default(%late", 1)
    return said | {"graph": graph}

inductor_plan.Recorded.message = message
"""

_BUILDING = """import graphgate_torch
from graphgate_adapter import module

def fail(*words, **named):
    raise KeyError("no such thing")

module._Builder._argument = fail
"""

# What the adapter lends to PyTorch, the shape of an op of its own, fails while that compiles.
_LENT = """import graphgate_torch
from graphgate_adapter import ops

def fake(out, x):  # wants three dimensions
    ops.unified_attention_with_output(x, x, x, out, "")

ops._EAGER = {name: (eager, fake) for name, (eager, _) in ops._EAGER.items()}
"""

_LENT_CASE = """  input %x : f32[8, 4]
  %e : f32[8, 2] = aten.empty.memory_format([8, 2], dtype=f32)
  vllm.silu_and_mul.default(%e, %x)
  %n : f32[8, 2] = aten.neg.default(%e)
  output %n
"""

_ANSWERING = """import graphgate_torch
from graphgate_adapter import exchange

def fail(*words):
    raise AttributeError("no storage")

exchange.Sent.tensor = fail
"""

# Code on the host is captured, as on a GPU, but for conditionals. The caller of a partition is written
# behind its last node, which the scheduler goes on naming.
_PARTITIONED = """from torch._inductor import scheduler

def splits(this, node, *words, **named):
    is_split = type(node.node).__name__ in ("Conditional", "Switch")
    return "a conditional" if is_split else None

scheduler.Scheduler.should_partition = splits
"""

# Cut before and behind what makes several results, or a size that depends on data. Others are captured.
_CUT = """from torch._inductor import ir, scheduler

def splits(this, node, *words, **named):
    cuts = type(node.node).__name__ in {kinds}
    return "cut" if cuts else None

scheduler.Scheduler.should_partition = splits
"""

# Behind the cut nobody reads the elements of what has a size that depends on data.
_SIZE_ALONE = """  input %x : f32[8]
  %n = aten.nonzero.default(%x)
  %a : f32[8] = aten.neg.default(%x)
  %m : f32[8, 8] = aten.outer.default(%a, %a)
  %p : f32[8, 8] = aten.mm.default(%m, %m)
  output %n
  output %p
"""

# Of two results one is read, and a partition makes them both.
_ONE_OF_TWO = """  input %x : f32[4, 4]
  %a : f32[4, 4] = aten.neg.default(%x)
  %m : f32[4], %i : i64[4] = aten.mode.default(%a, 0)
  %b : f32[4] = aten.mul.Tensor(%m, 2.0)
  %c : f32[4] = aten.sin.default(%b)
  output %c
"""

# A partition hands on a view of what it is given, and touches no byte of it.
_VIEW_ALONE = """  input %x : f32[4]
  input %z : f32[2, 2, 2]
  %a : f32[4] = aten.neg.default(%x)
  %v : c64[2, 2] = aten.view_as_complex.default(%z)
  output %a
  output %v
"""

# Inductor's memory planning gives everything the first bytes of its pool.
_SAME_PLACE = """from torch._inductor.codegen import memory_planning

right = memory_planning.Allocation.finalize

def finalize(this, pool, offset):
    return right(this, pool, offset * 0)

memory_planning.Allocation.finalize = finalize
"""

_TWO_PRODUCTS = """  input %x : f32[16, 16]
  %a : f32[16, 16] = aten.mm.default(%x, %x)
  %b : f32[16, 16] = aten.mm.default(%a, %x)
  %c : f32[16, 16] = aten.mm.default(%a, %b)
  %d : f32[16, 16] = aten.mm.default(%c, %b)
  output %d
"""

_VIEWS = """  input %x : i64[4, 6]
  input %z : c64[4]
  %d : i64[4, 6] = aten.add.Tensor(%x, 1)
  %v : i32[4, 12] = aten.view.dtype(%d, i32)
  %w : i32[4, 12] = aten.add.Tensor(%v, 7)
  %r : f32[4, 2] = aten.view_as_real.default(%z)
  %s : f32[4, 2] = aten.mul.Tensor(%r, 2)
  output %w
  output %v
  output %s
"""

# A loop may store where it reads, wherever that is: so it was before PyTorch 2.15 (pytorch#198033).
_IN_PLACE = """from torch._inductor import ir

ir.MutationLayoutSHOULDREMOVE._reads_only_where_it_writes = classmethod(lambda *words: True)
"""

_FLIPPED = """  input %x : f32[6, 5]
  %f : f32[6, 5] = aten.flip.default(%x, [0])
  aten._foreach_add_.List([%x], [%f])
  %y : f32[6, 5] = aten.mul.Tensor(%x, 1.0)
  output %y
"""

_COPY_BACK = """  input %x : f32[6, 5]
  %f : f32[6, 5] = aten.flip.default(%x, [0])
  %y : f32[6, 5] = aten.add_.Tensor(%x, %f)
  %z : f32[6, 5] = aten.mul.Tensor(%y, 2.0)
  output %z
"""

_ROLLED = """  input %x : f32[6, 5]
  %r : f32[6, 5] = aten.roll.default(%x, [1], [0])
  %y : f32[6, 5] = aten.add_.Tensor(%x, %r)
  output %y
"""

# Rows of x move behind each other: they are read where another part of the loop writes others.
_PARTS_IN_PLACE = """  input %x : f32[6, 5]
  %a : f32[2, 5] = aten.slice.Tensor(%x, 0, 0, 2)
  %b : f32[2, 5] = aten.slice.Tensor(%x, 0, 4, 6)
  %m : f32[2, 5] = aten.mul.Tensor(%a, 3.0)
  %c : f32[2, 5] = aten.copy_.default(%b, %m)
  %s : f32[] = aten.sum.default(%x)
  output %s
"""

_DEVICES = """import torch
import graphgate_torch
from graphgate_adapter import graph_text, module

torch.cuda.current_device = lambda: 3
assert module.whole_device("cuda") == torch.device("cuda", 3)
assert module.whole_device("cuda:1") == torch.device("cuda", 1)
assert module.whole_device("cpu") == torch.device("cpu")

def devices(text, under_test):
    return module.Devices(graph_text.parse('program "p" {\\n' + text + '}\\n'), under_test)

# A program on the host, on another device: what names the host means that device, with its index.
host = devices('input %x : f32[4]\\naten.g.default(%x, [device("cpu")])\\noutput %x\\n', "cuda")
assert host.here("cpu") == host.default == torch.device("cuda", 3)
assert host.named(torch.device("cuda", 3)) == "cpu"
# One accelerator has two names.
both = devices(
    'input %x : f32[4] on cuda:0\\naten.g.default(%x, [device("cuda")])\\noutput %x\\n', "cuda:1")
assert both.here("cuda") == both.here("cuda:0") == torch.device("cuda", 1)
assert both.named(torch.device("cuda", 1)) == "cuda:0"
assert both.here("cpu") == torch.device("cpu")
try:
    devices(
        'input %x : f32[4] on cuda:0\\naten.g.default(%x, [device("cuda:1")])\\noutput %x\\n', "cuda")
except module.Unsupported:
    pass
else:
    raise AssertionError("two accelerators")
"""


# The first process loses its device in its first call, as by an assertion in a kernel of CUDA.
_LOSING = """import os
import graphgate_torch
from graphgate_adapter import accelerator

def fail():
    raise RuntimeError("CUDA error: device-side assert triggered")

mark = __file__ + ".lost"
if not os.path.exists(mark):
    open(mark, "w").close()
    accelerator.wait = fail
"""


class Faults(serve_test.Checked):
    def _check_planted(self, plant, program=serve_test._CHAIN, settings="{}"):
        """(the run, the judge verifier of its report), with all judges of values beside it."""
        case = self._write("drawn.case", serve_test._HEAD + program + serve_test._TAIL)
        script = self._write("script.py", plant + _SERVE.replace("{settings}", settings))
        executor = shlex.join([sys.executable, script])
        ran, report = self._check(executor, "--judges", "exact,bounds,state,verifier", case)
        said = report["programs"][0].get("executors", [{}])[0].get("judges", [])
        return ran, next((each for each in said if each["judge"] == "verifier"), None)

    def _expect_not_shown(self, plant, words, **named):
        ran, verifier = self._check_planted(plant, **named)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertEqual(verifier["outcome"], "UNSUPPORTED", ran.stdout)
        self.assertEqual({each["rule"] for each in verifier["findings"]}, {"V0.not-shown"})
        self.assertIn(words, json.dumps(verifier["findings"]))

    def _expect_shown(self, plant, **named):
        ran, verifier = self._check_planted(plant, **named)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertEqual(verifier["outcome"], "PASS", ran.stdout)

    def test_of_the_recorder_cost_the_verifier_alone(self):
        for plant, words in (
            (_READING, "the recorder of plans: KeyError: 'buf0'"),
            (_NOTING, "the recorder of plans: StopIteration"),
            (_RENAMED, "PythonWrapperCodegen of PyTorch"),
            (_GONE, "the recorder of plans: AttributeError"),
            (_MOVED, "the recorder of plans: "),
        ):
            with self.subTest(words):
                self._expect_not_shown(plant, words)

    def test_of_a_plan_that_cannot_be_read_cost_the_verifier_alone(self):
        self._expect_not_shown(_UNREADABLE, "own_plans[0]")

    def test_pools_of_memory_planning_are_shown(self):
        self._expect_shown("", settings='{"memory_planning": True}')

    def test_graphs_that_are_written_in_line_are_shown(self):
        self._expect_shown("", program=serve_test._CONDITIONAL, settings='{"cpp_wrapper": True}')

    def test_places_that_inductor_plans_twice_are_found(self):
        ran, verifier = self._check_planted(
            _SAME_PLACE, program=_TWO_PRODUCTS, settings='{"memory_planning": True}')
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
        self.assertIn("V3.overlap", {each["rule"] for each in verifier["findings"]}, ran.stdout)

    def test_results_that_are_views_are_shown(self):
        self._expect_shown("", program=_VIEWS)

    def test_reads_beside_what_is_written_in_place_are_found(self):
        """Stored where it is computed: the recorder sees the loop that Inductor has made."""
        ran, verifier = self._check_planted(_IN_PLACE, program=_FLIPPED)
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
        rules = {each["rule"] for each in verifier["findings"]}
        self.assertEqual(rules, {"V3.other-iteration"}, ran.stdout)

    def test_conditions_of_loops_are_shown(self):
        for program in (_COPY_BACK, _ROLLED, _PARTS_IN_PLACE):
            with self.subTest(program):
                self._expect_shown("", program=program)

    def test_partitions_that_are_captured_are_shown(self):
        for program in (serve_test._CHAIN, serve_test._CONDITIONAL):
            with self.subTest(program):
                ran, verifier = self._check_planted(
                    _PARTITIONED, program, '{"graph_partition": True}')
                self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
                self.assertEqual(verifier["outcome"], "PASS", ran.stdout)

    def test_a_device_that_is_lost_costs_one_case(self):
        cases = [
            self._write(name, serve_test._HEAD + serve_test._CHAIN + serve_test._TAIL)
            for name in ("first.case", "second.case")
        ]
        script = self._write("script.py", _LOSING + _SERVE.replace("{settings}", "{}"))
        executor = shlex.join([sys.executable, script])
        ran, _ = self._check(executor, "--judges", "bounds,state", *cases)
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
        self.assertIn("R1.refused-wrongly", ran.stdout)
        self.assertIn("device-side assert", ran.stdout)
        self.assertIn("1 passed, 1 failed, 0 skipped", ran.stdout)

    def test_partitions_are_not_blamed_for_what_is_only_passed_on(self):
        for kinds, program in (
            ("('MultiOutput',)", _ONE_OF_TWO),
            ("('FallbackKernel', 'ExternKernelOut')", _SIZE_ALONE),
            ("()", _VIEW_ALONE),
        ):
            with self.subTest(program):
                self._expect_shown(
                    _CUT.replace("{kinds}", kinds), program=program,
                    settings='{"graph_partition": True}')

    def test_of_the_adapter_are_told_as_its_own(self):
        for plant, words, program in (
            (_BUILDING, "KeyError: 'no such thing' (module.py:", serve_test._CHAIN),
            (_LENT, "not enough values to unpack", _LENT_CASE),
            (_ANSWERING, "AttributeError: no storage", serve_test._CHAIN),
        ):
            with self.subTest(words):
                ran, _ = self._check_planted(plant, program)
                self.assertEqual(ran.returncode, 3, ran.stdout + ran.stderr)
                self.assertIn("the adapter graphgate_torch", ran.stdout + ran.stderr)
                self.assertIn(words, ran.stdout + ran.stderr)

    def test_devices_have_an_index_as_their_tensors_have(self):
        ran = serve_test._run(sys.executable, self._write("devices.py", _DEVICES))
        self.assertEqual(ran.returncode, 0, ran.stderr)


if __name__ == "__main__":
    serve_test.main("__main__")
