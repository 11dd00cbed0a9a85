"""PyTorch under graphgate's judges: serve_test.py GRAPHGATE GOLDEN_DIRECTORY.

Ends with status 77, which ctest takes for skipped, where there is no PyTorch.
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
import unittest

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_ADAPTER = os.path.dirname(_FOLDER)
GRAPHGATE, GOLDEN = "", ""

_CASE = """graphgate-case 1
name "tiny"
seed 7
program "p" {
  buffer %s "s" : f32[4]
  input %x : f32[4]
  %a = aten.add.Tensor(%x, %s)
  %b = aten.mul_.Tensor(%a, %a)
  %c = aten.add_.Tensor(%s, %b)
  %v = aten.view.default(%b, [2, 2])
  output %v
}
weights "p" seed 3
scenario {
  call p
  call p mode=eager
}
expect PASS
"""

_MODEL = """import torch

class Counting(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(8))

    def forward(self, x):
        self.total.add_(x.sum(0))
        return torch.relu(x), self.total * 2

def model():
    torch.manual_seed(1)
    rows = torch.export.Dim("rows", min=2, max=64)
    calls = [(torch.randn(4, 8),), (torch.randn(7, 8),)]
    return {"module": Counting(), "calls": calls, "dynamic_shapes": ({0: rows},)}
"""

# Inputs that are parts: of a larger tensor, and of one that both share. as_strided reads beside them.
# And an output that is None.
_PARTS = """import torch

class Parts(torch.nn.Module):
    def forward(self, x, y, z):
        return torch.as_strided(x, (2, 3), (1, 2), 1), None, y.add_(1) + 1, z * 2

def model():
    shared = torch.arange(8.0)
    return {"module": Parts(), "calls": [(torch.arange(16.0)[5:9], shared[:4], shared[4:])]}
"""

# complex128 has no name in safetensors, and a conjugate is a mark in PyTorch.
_ONE_TOKEN = """import torch

class Scaled(torch.nn.Linear):
    def forward(self, x, scale):
        return super().forward(x) * scale

def model():
    return {"module": Scaled(8, 8), "calls": [(torch.ones(n, 8), 0.5) for n in (3, 1)]}
"""

_COMPLEX_MODEL = """import torch

class Turned(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("turn", torch.ones(2, dtype=torch.complex128))

    def forward(self, x, z):
        self.turn.mul_(1j)
        return x * 2j + self.turn, z.conj(), torch.view_as_real(z.conj() * z)

def model():
    z = torch.tensor([1 - 2j, 0.5 + 1j])
    return {"module": Turned(), "calls": [(torch.ones(2, dtype=torch.complex128), z)] * 2}
"""

# In eval mode it takes another path unless told not to, and without weights it returns None for them.
_ATTENTION = """import torch

class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = torch.nn.MultiheadAttention(8, 2, batch_first=True)

    def forward(self, x):
        return self.attention(x, x, x, need_weights=False)

def model():
    torch.manual_seed(0)
    return {"module": Attention(), "calls": [(torch.randn(2, 3, 8),)]}
"""

# A package that registers an op for which the adapter has a stand-in, as transformers does, and a
# model file that imports it, a neighbour, and what looks its module up by name.
_OWNER = """import torch

@torch.library.custom_op("transformers::grouped_mm_fallback", mutates_args=())
def grouped(input: torch.Tensor, weight: torch.Tensor, offs: torch.Tensor) -> torch.Tensor:
    return input @ weight[0]
"""

_IMPORTING = """from __future__ import annotations

import dataclasses
import torch
import neighbour
{early}

@dataclasses.dataclass
class Sizes:
    width: int = neighbour.WIDTH

class Layer(torch.nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.linear = torch.nn.Linear(sizes.width, sizes.width)

    def forward(self, x):
        {late}
        return self.linear(x)

def model():
    return {{"module": Layer(Sizes()), "calls": [(torch.ones(2, neighbour.WIDTH),)]}}
"""

_HEAD = """graphgate-case 1
name "drawn"
seed 7
program "p" {
"""

_TAIL = """}
scenario {
  call p
}
expect PASS
"""

# Dynamo of PyTorch 2.11 traces no arm that writes what it is given; eager mode takes it.
_WRITING_ARM = """  input %x : f32[4]
  input %t : f32[4]
  input %p : bool[]
  graph @yes {
    input %a : f32[4]
    input %b : f32[4]
    %c : f32[4] = aten.copy_.default(%b, %a)
    %d : f32[4] = aten.tanh.default(%a)
    output %d
  }
  graph @no {
    input %a : f32[4]
    input %b : f32[4]
    %d : f32[4] = aten.abs.default(%a)
    output %d
  }
  %y : f32[4] = higher_order.cond(%p, @yes, @no, [%x, %t])
  output %y
"""

# Empty tensors have no kernel: nothing but an allocation, or a reuse, makes them.
_EMPTY = """  input %x : f32[8, 4]
  %e : f32[8, 2] = aten.empty.memory_format([8, 2], dtype=f32)
  vllm.silu_and_mul.default(%e, %x)
  %n : f32[8, 2] = aten.neg.default(%e)
  %s : f32[8, 2] = aten.cumsum.default(%n, 0)
  %f : f32[8, 2] = aten.empty.memory_format([8, 2], dtype=f32)
  vllm.silu_and_mul.default(%f, %x)
  %m : f32[8, 2] = aten.add.Tensor(%f, %s)
  output %m
"""

_DATA_DEPENDENT = """  input %x : f32[8]
  input %y : f32[4]
  %c : bool[8] = aten.ge.Scalar(%x, -100.0)
  %s : f32[8] = aten.masked_select.default(%x, %c)
  %u : f32[8, 1] = aten.unsqueeze.default(%s, 1)
  %m : f32[8, 4] = aten.mul.Tensor(%u, %y)
  output %m
"""

_CONDITIONAL = """  input %x : f32[4]
  graph @yes {
    input %y : f32[4]
    %z : f32[4] = aten.neg.default(%y)
    output %z
  }
  graph @no {
    input %y : f32[4]
    %z : f32[4] = aten.mul.Tensor(%y, 2.0)
    output %z
  }
  %w : f32[4] = aten.abs.default(%x)
  %t : f32[] = aten.sum.default(%w)
  %p : bool[] = aten.gt.Scalar(%t, 0.0)
  %c : f32[4] = higher_order.cond(%p, @yes, @no, [%w])
  %b : f32[4] = aten.neg.default(%c)
  output %b
"""

_CHAIN = """  input %x : f32[4, 4]
  %a : f32[4, 4] = aten.mm.default(%x, %x)
  %b : f32[4, 4] = aten.mm.default(%x, %a)
  %c : f32[4, 4] = aten.mm.default(%b, %b)
  %d : f32[4, 4] = aten.mm.default(%c, %a)
  output %d
"""

# What a node reads last is free two nodes early, and so a node between takes its bytes. The code
# that is generated does not run.
_FREED_EARLY = """import sys
import torch
from torch._inductor import scheduler
from graphgate_torch import inductor_plan

right = scheduler.Scheduler.compute_last_usage

def early(self):
    right(self)
    nodes = self.nodes
    for i in range(2, len(nodes)):
        there = {name for node in nodes[: i - 1] for name in node.get_buffer_names()}
        moved = nodes[i].last_usage & there
        nodes[i].last_usage -= moved
        nodes[i - 2].last_usage |= moved

def chain(x):
    a = x @ x
    b = x @ a
    return (b @ b) @ a

if sys.argv[2] == "planted":
    scheduler.Scheduler.compute_last_usage = early
with inductor_plan.Recorder() as recorder, torch.no_grad():
    try:
        torch.compile(chain, options={"fx_graph_cache": False})(torch.ones(4, 4))
    except UnboundLocalError:
        pass
recorder.graphs[0].write(sys.argv[1], "chain")
"""

_LOWERING_FAILS = """import torch
from torch._inductor import lowering
from graphgate_torch import backends
from graphgate_adapter import serve

def fail(*words, **named):
    raise AssertionError("no such layout")

lowering.lowerings[torch.ops.aten.mm.default] = fail
serve.serve(backends.Compile({}), "cpu")
"""

# Imports of a compiler end the process.
_WITHOUT_COMPILERS = """import os
import runpy
import sys

class Ending:
    def find_spec(self, name, *words):
        if name.startswith(("torch._dynamo", "torch._inductor")):
            print(name, "is imported", file=sys.stderr, flush=True)
            os._exit(1)

sys.meta_path.insert(0, Ending())
sys.argv = ["graphgate_torch", "serve", "--backend", "eager"]
runpy.run_module("graphgate_torch", run_name="__main__")
"""

_BROKEN = """from graphgate_torch import backends
from graphgate_adapter import serve

right = serve.Program.call
serve.Program.call = lambda *words: [output + 1 for output in right(*words)]
serve.serve(backends.Eager({}), "cpu")
"""

# A product in two parts that are rounded to bfloat16, as cuBLAS may have it; without a promise,
# with one, and with three times the error that parts can have.
_SPLIT = """import sys
import torch
from graphgate_torch import backends
from graphgate_adapter import serve

def product(a, b):
    return (a.float().unsqueeze(2) * b.float().unsqueeze(0)).sum(1)

def mm(a, b):
    parts = [product(a[:, i : i + 8], b[i : i + 8]).bfloat16() for i in range(0, 16, 8)]
    total = parts[0].float() + parts[1].float()
    if sys.argv[1] == "wrong":
        total += 3 * 2.0**-8 * product(a.abs(), b.abs())
    return total.bfloat16()

library = torch.library.Library("aten", "IMPL")
library.impl("mm", mm, "CPU")
if sys.argv[1] != "silent":
    serve.split_sums = lambda device: ["bf16"]
serve.serve(backends.Eager({}), "cpu")
"""

_PRODUCT = """  input %a : bf16[16, 16]
  input %b : bf16[16, 4]
  %c : bf16[16, 4] = aten.mm.default(%a, %b)
  output %c
"""

# What kernels refuse by what operands hold, or by how they lie; and the same op of a finite matrix by
# one that refuses all.
_SINGULAR = """  input %x : f32[2, 2]
  %l = aten.log.default(%x)
  %u, %s, %v = aten._linalg_svd.default(%l)
  output %s
}
inputs "d" of "p" {
  x : f32[2, 2] = [@, 2.0, 3.0, 5.0]
"""

_GROUPED = """  input %x : f32[1, 2, 3]
  input %y : f32[1, 3, 2]
  %p = aten._grouped_mm.default(%x, %y)
  output %p
"""

_BEYOND = """  input %x : f32[4]
  %y = aten.sigmoid.default(%x)
  %t = aten.add.Tensor(%y, 1.5)
  %l = aten.binary_cross_entropy.default(%y, %t)
  output %l
"""

_REFUSING = """import torch
from graphgate_torch import backends
from graphgate_adapter import serve

def svd(*words):
    raise torch.linalg.LinAlgError("linalg.svd: The algorithm failed to converge")

library = torch.library.Library("aten", "IMPL")
library.impl("_linalg_svd", svd, "CPU")
serve.serve(backends.Eager({}), "cpu")
"""

# Read by columns, the product is rounded before something is added to it.
_BY_COLUMNS = """  input %s : f16[4]
  input %v : f16[5]
  input %w : f16[4, 5]{1, 4}
  %t : f16[5, 4] = aten.t.default(%w)
  %u : f16[4, 5]{1, 4} = aten.t.default(%t)
  %o : f16[4] = aten.addmv.default(%s, %u, %v)
  output %o
"""

_WRAPPED = """  input %x : f32[4]
  input %a : f32[2]
  input %b : f32[2]
  %n : none, %q : f32[2], %r : f32[2] = higher_order.auto_functionalized_v2(aten.split_with_sizes_copy.out, self=%x, dim=0, split_sizes=[2, 2], _out_length=2, _out_0_base_index=0, _out_1_base_index=1, _all_bases=[%a, %b])
  output %q
"""

_FLAGS = """import types
import torch
import graphgate_torch
from graphgate_adapter.serve import split_sums, tf32

def flags(bf16, fp16, **others):
    names = ("allow_bf16_reduced_precision_reduction", "allow_fp16_reduced_precision_reduction")
    return types.SimpleNamespace(**dict(zip(names, (bf16, fp16))), **others)

both = ["bf16", "f16"]
assert split_sums("cuda", flags(True, True)) == both
assert split_sums("cuda", flags(False, True)) == ["f16"]
assert split_sums("cuda", flags((True, True), (False, True))) == ["bf16"]
assert split_sums("cuda", flags((True, False), (False, False))) == []
never = {"allow_bf16_reduced_precision_reduction_split_k": False}
assert split_sums("cuda", flags(True, True, **never)) == ["f16"]
assert split_sums("cpu", flags(True, True)) == []
matmul = torch.backends.cuda.matmul
assert split_sums("cuda") == both
matmul.allow_bf16_reduced_precision_reduction = False
assert split_sums("cuda") == ["f16"]
assert tf32("cuda") == ["convolution"]
assert tf32("cpu") == []
torch.backends.cudnn.allow_tf32 = False
assert tf32("cuda") == []
torch.backends.cudnn.conv.fp32_precision = "tf32"
assert tf32("cuda") == ["convolution"]
"""


# An eager executor that says another version than it has.
_OF_ANOTHER_VERSION = """import sys

from graphgate_torch import backends
from graphgate_adapter import serve

backends.Eager.torch_version = lambda self, device: sys.argv[1]
serve.serve(backends.Eager({}), "cpu")
"""
_BYTES_WRAP_BEFORE = (2, 15)  # bounds of clamp: golden/cases/versions, docs/gating.md


def _run(*words, check=False):
    environment = os.environ | {"PYTHONPATH": _ADAPTER}
    return subprocess.run(words, capture_output=True, text=True, check=check, env=environment)


def _executor(*words):
    return shlex.join([sys.executable, "-m", "graphgate_torch", "serve", *words])


class Checked(unittest.TestCase):
    """Tests that run `graphgate check` on programs that they write."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)

    def _write(self, name, text):
        path = os.path.join(self._folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def _check(self, executor, *words):
        report = os.path.join(self._folder.name, "report.json")
        # Much time: a C++ compiler, and others who use the machine.
        ran = _run(
            GRAPHGATE, "check", "--executor", executor, "--executor-timeout", "1500",
            "--json", report, *words,
        )
        with open(report, encoding="utf-8") as file:
            return ran, json.load(file)

    def _check_with(self, script, program, judges="verifier"):
        case = self._write("drawn.case", _HEAD + program + _TAIL)
        executor = shlex.join([sys.executable, self._write("script.py", script)])
        return self._check(executor, "--judges", judges, case)[0]


class Serve(Checked):
    def test_eager_mode_passes_on_a_model_with_mutations(self):
        model = os.path.join(GOLDEN, "models", "mutations.pt2")
        ran, _ = self._check(_executor("--backend", "eager"), "--judges", "bounds,state", model)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_eager_mode_imports_no_compiler(self):
        executor = shlex.join([sys.executable, self._write("script.py", _WITHOUT_COMPILERS)])
        for text, status in ((_CASE, 0), (_CASE.replace("[2, 2]", "[3, 2]"), 4)):  # the other is refused
            ran, _ = self._check(executor, "--judges", "bounds", self._write("tiny.case", text))
            self.assertEqual(ran.returncode, status, ran.stdout + ran.stderr)

    def test_calls_that_a_program_does_not_declare_are_refused(self):
        cases = os.path.join(GOLDEN, "cases")
        names = ("other-dtype", "other-rank", "size-out-of-range", "singular-shapes", "index-out-of-range")
        paths = [os.path.join(cases, "fault", f"{name}.case") for name in names]
        ran, _ = self._check(_executor("--backend", "eager"), "--judges", "bounds,state", *paths)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_ops_are_judged_by_the_version_that_is_greeted_with(self):
        case = os.path.join(GOLDEN, "cases", "versions", "clamp-bytes-below.case")
        ran, _ = self._check(_executor("--backend", "eager"), "--judges", "bounds", case)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        import torch

        own = tuple(int(number) for number in torch.__version__.split(".")[:2])
        other = "2.11.0" if own >= _BYTES_WRAP_BEFORE else "2.15.0"
        script = self._write("script.py", _OF_ANOTHER_VERSION)
        ran, _ = self._check(shlex.join([sys.executable, script, other]), "--judges", "bounds", case)
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)

    def test_what_changed_between_two_versions_is_no_regression(self):
        cache = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "graphgate")
        sides = [os.path.join(cache, f"torch-{version}") for version in ("2.11.0", "2.15.0")]
        for side in sides:
            if not os.path.exists(os.path.join(side, "ok")):
                self.skipTest(f"{side} is missing: tools/adapters/torch/make_environment makes it")
        ran = _run(
            GRAPHGATE, "gate", "--baseline", f"python:{sides[0]}:eager", "--candidate", f"python:{sides[1]}:eager",
            "--corpus", os.path.join(GOLDEN, "cases", "versions"), "--judges", "bounds", "--reruns", "0",
            "--executor-timeout", "1500",
        )
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertIn("CHANGED versions-since-2.14", ran.stdout)
        self.assertIn("CHANGED versions-since-2.15", ran.stdout)
        self.assertIn("0 regressed", ran.stdout)

    def test_what_another_executor_refuses_by_its_options_is_not_owed(self):
        case = os.path.join(GOLDEN, "cases", "wrapper", "buffer-bound-anew.case")
        ran, _ = self._check(_executor("--backend", "eager"), "--judges", "bounds", case)
        self.assertEqual(ran.returncode, 2, ran.stdout + ran.stderr)
        self.assertIn("has no option", ran.stdout)

    def test_an_option_that_inductor_has_not_is_named(self):
        case = os.path.join(GOLDEN, "cases", "op", "conversion.case")
        ran, _ = self._check(_executor("--set", "triton.cudagraph=true"), "--judges", "bounds", case)
        self.assertEqual(ran.returncode, 2, ran.stdout + ran.stderr)
        self.assertIn("has no triton.cudagraph; did you mean triton.cudagraphs?", ran.stdout)

    def test_complex_numbers_pass(self):
        case = os.path.join(GOLDEN, "cases", "op", "complex.case")
        for words in (("--backend", "eager"), ()):
            ran, _ = self._check(_executor(*words), "--judges", "exact,bounds,state", case)
            self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_compiled_programs_pass(self):
        case = self._write("tiny.case", _CASE)
        ran, _ = self._check(_executor(), "--judges", "exact,bounds,state", case)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_what_pytorch_refuses_is_no_finding_of_it(self):
        case = self._write("wrong.case", _CASE.replace("[2, 2]", "[3, 2]"))
        ran, _ = self._check(_executor("--backend", "eager"), "--judges", "bounds", case)
        self.assertEqual(ran.returncode, 4, ran.stdout + ran.stderr)

    def test_what_dynamo_refuses_is_no_finding_of_it(self):
        case = self._write("arm.case", _HEAD + _WRITING_ARM + _TAIL)
        ran, report = self._check(_executor(), "--judges", "bounds", case)
        if ran.returncode == 0:
            return  # PyTorch 2.15 traces it
        self.assertEqual(ran.returncode, 2, ran.stdout + ran.stderr)
        self.assertEqual(report["not_compared"], 1, ran.stdout)
        self.assertIn("UncapturedHigherOrderOpError", ran.stdout)

    def test_what_pytorch_does_not_wrap_is_no_finding_and_is_not_drawn(self):
        case = self._write("wrapped.case", _HEAD + _WRAPPED + _TAIL)
        ran, report = self._check(_executor("--backend", "eager"), "--judges", "bounds", case)
        self.assertEqual(ran.returncode, 2, ran.stdout + ran.stderr)
        self.assertIn("auto_functionalized_v2", ran.stdout)
        drawn = os.path.join(self._folder.name, "drawn.json")
        ran = _run(
            GRAPHGATE, "fuzz", "--executor", _executor("--backend", "eager"), "--cases", "2", "-j", "1",
            "--judges", "state", "--corpus", os.path.join(self._folder.name, "corpus"),
            "--executor-timeout", "300", "--timeout", "600", "--exclude", "view", "--json", drawn,
        )
        with open(drawn, encoding="utf-8") as file:
            excluded = json.load(file)["settings"]["exclude"].split(",")
        self.assertEqual(excluded[:2], ["view", "accelerator"], ran.stdout + ran.stderr)
        self.assertIn("functionalized.split_with_sizes_copy", excluded)

    def test_what_kernels_refuse_by_values_and_strides_is_no_finding(self):
        refusing = shlex.join([sys.executable, self._write("refusing.py", _REFUSING)])
        eager = _executor("--backend", "eager")
        call = _TAIL.replace("call p", "call p inputs=d")
        nan, finite = (_HEAD + _SINGULAR.replace("@", text) + call for text in ("-1.0", "4.0"))
        for text, executor, status in (
            (nan, eager, 2), (_HEAD + _GROUPED + _TAIL, eager, 2), (nan, refusing, 2),
            (_HEAD + _BEYOND + _TAIL, eager, 2),
            (finite, eager, 0), (finite, refusing, 1),
        ):
            case = self._write("refused.case", text)
            ran, _ = self._check(executor, "--judges", "bounds", case)
            self.assertEqual(ran.returncode, status, text + ran.stdout + ran.stderr)

    def test_nodes_are_judged_as_their_operands_lie(self):
        case = self._write("columns.case", _HEAD + _BY_COLUMNS + _TAIL.replace("  call p\n", "  call p\n" * 24))
        ran, _ = self._check(_executor("--backend", "eager"), "--judges", "bounds", case)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_a_wrong_executor_is_found(self):
        case = self._write("tiny.case", _CASE)
        broken = self._write("broken.py", _BROKEN)
        executor = shlex.join([sys.executable, broken])
        ran, _ = self._check(executor, "--judges", "bounds", case)
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)

    def test_sums_in_parts_need_a_promise(self):
        case = self._write("product.case", _HEAD + _PRODUCT + _TAIL)
        script = self._write("split.py", _SPLIT)
        for what, status in (("silent", 1), ("promised", 0), ("wrong", 1)):
            executor = shlex.join([sys.executable, script, what])
            ran, _ = self._check(executor, "--judges", "bounds", case)
            self.assertEqual(ran.returncode, status, what + ran.stdout + ran.stderr)

    def test_promises_sums_in_parts_as_pytorch_allows_them(self):
        ran = _run(sys.executable, self._write("flags.py", _FLAGS))
        self.assertEqual(ran.returncode, 0, ran.stderr)

    def _check_plans(self, program):
        """Checks them; (how many graphs have an own plan, why others have none)."""
        case = self._write("drawn.case", _HEAD + program + _TAIL)
        log = os.path.join(self._folder.name, "log")
        ran, _ = self._check(_executor("--log", log), "--judges", "verifier", case)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        with open(log, encoding="utf-8") as file:
            (told,) = (json.loads(line) for line in file)
        return told["own_plans"], told["not_shown"]

    def test_plans_show_what_no_kernel_makes(self):
        self.assertEqual(self._check_plans(_EMPTY), (1, []))

    def test_plans_show_sizes_that_depend_on_data(self):
        self.assertEqual(self._check_plans(_DATA_DEPENDENT), (1, []))

    def test_plans_show_graphs_within_graphs(self):
        self.assertEqual(self._check_plans(_CONDITIONAL), (3, []))

    def test_bytes_that_inductor_frees_early_are_found(self):
        script = self._write("script.py", _FREED_EARLY)
        path = os.path.join(self._folder.name, "chain")
        for what, status, words in (("right", 0, ""), ("planted", 1, "V4.wrong-version")):
            _run(sys.executable, script, self._folder.name, what, check=True)
            ran = _run(
                GRAPHGATE, "plan", "--verify", path + ".json",
                "--program", path + ".txt", "--custom-ops", path + ".ops",
            )
            self.assertEqual(ran.returncode, status, ran.stdout + ran.stderr)
            self.assertIn(words, ran.stdout)

    def test_an_error_of_the_compiler_begins_with_its_innermost_class(self):
        ran = self._check_with(_LOWERING_FAILS, _CHAIN)
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
        self.assertIn(
            "AssertionError: no such layout (in InductorError, LoweringException of aten.mm.default)",
            ran.stdout,
        )

    def test_an_error_without_a_text_is_told_by_its_place(self):
        ran = self._check_with(_LOWERING_FAILS.replace('"no such layout"', ""), _CHAIN)
        self.assertEqual(ran.returncode, 1, ran.stdout + ran.stderr)
        self.assertRegex(ran.stdout, r"AssertionError: script\.py:\d+: raise AssertionError\(\)")

    def test_an_unknown_option_of_inductor_is_told(self):
        case = self._write("tiny.case", _CASE)
        for name in ("no_such_option", "triton.no_such_option"):
            ran, _ = self._check(_executor("--set", name + "=1"), "--judges", "bounds", case)
            self.assertEqual(ran.returncode, 2, ran.stdout + ran.stderr)
            self.assertIn(name, ran.stdout)

    def _export_and_check(self, source):
        """Exports model() of this source, and checks the archive, which passes. Its path, and what was said."""
        model = self._write("model.py", source)
        archive = os.path.join(self._folder.name, "model.pt2")
        _run(sys.executable, "-m", "graphgate_torch", "export", model + ":model", archive, check=True)
        ran = _run(GRAPHGATE, "check", archive)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        return archive, ran.stdout

    def test_the_engine_of_the_page_passes(self):
        page = os.path.join(os.path.dirname(GOLDEN), "docs", "executors.md")
        with open(page, encoding="utf-8") as file:
            lines = file.read().partition("## An engine in Python")[2].split("\n    $ ")[0].splitlines()
        code = "\n".join(line[4:] for line in lines if line.startswith("    ") or not line)
        self.assertIn("serve(Mine()", code)
        engine = self._write("mine.py", code)
        case = os.path.join(GOLDEN, "cases", "partition", "residual.case")
        common = os.path.join(os.path.dirname(GOLDEN), "tools", "adapters", "common")
        ran = subprocess.run(
            [GRAPHGATE, "check", "--executor", shlex.join([sys.executable, engine]), case],
            capture_output=True, text=True, env=os.environ | {"PYTHONPATH": common}, check=False,
        )
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertIn("1 passed", ran.stdout)

    def test_exported_models_pass_with_their_recordings(self):
        _, said = self._export_and_check(_MODEL)
        self.assertIn("2 recorded calls", said)

    def test_inputs_that_are_parts_are_recorded_with_what_lies_around_them(self):
        archive, _ = self._export_and_check(_PARTS)
        with open(archive.replace(".pt2", ".geometry.json"), encoding="utf-8") as file:
            places = json.load(file)["inputs"]["call0"]
        self.assertEqual([place["storage"] for place in places], [0, 1, 1])

    def test_exported_complex_numbers_pass_with_their_recordings(self):
        self._export_and_check(_COMPLEX_MODEL)

    def test_multi_head_attention_is_recorded_as_it_is_exported(self):
        self._export_and_check(_ATTENTION)

    def test_models_may_import_packages_that_own_ops(self):
        os.mkdir(os.path.join(self._folder.name, "installed"))
        os.mkdir(os.path.join(self._folder.name, "installed", "transformers"))
        self._write("installed/transformers/__init__.py", _OWNER)
        self._write("neighbour.py", "WIDTH = 4\n")
        archive = os.path.join(self._folder.name, "model.pt2")
        path = os.pathsep.join([_ADAPTER, os.path.join(self._folder.name, "installed")])
        for name, early, late in (
            ("early", "import transformers", "pass"), ("late", "", "import transformers"),
            ("copy", "import transformers", "pass"),  # the name of a module that is there
        ):
            model = self._write(f"{name}.py", _IMPORTING.format(early=early, late=late))
            ran = subprocess.run(
                [sys.executable, "-m", "graphgate_torch", "export", model + ":model", archive],
                capture_output=True, text=True, env=os.environ | {"PYTHONPATH": path}, check=False,
            )
            self.assertEqual(ran.returncode, 0, name + ran.stderr)
            ran = _run(GRAPHGATE, "check", archive)
            self.assertEqual(ran.returncode, 0, name + ran.stdout + ran.stderr)

    def test_a_model_that_cannot_be_imported_is_one_line(self):
        model = self._write("model.py", "import no_such_package\n")
        ran = _run(sys.executable, "-m", "graphgate_torch", "export", model + ":model", "x.pt2")
        self.assertEqual(ran.returncode, 4)
        self.assertEqual(
            ran.stderr,
            f"graphgate_torch: {model}: cannot be imported: No module named 'no_such_package'\n")

    def test_what_a_model_file_has_wrong_is_named(self):
        source = """import torch

def model(**more):
    return {"module": torch.nn.Linear(8, 8), "calls": [(torch.ones(3, 8),)], **more}

misspelt = lambda: model(kwarg=[{}])
tensor = lambda: model(calls=torch.ones(3, 8))
raises = lambda: no_such_name
late = lambda: model(calls=[(torch.ones(3, 8),), (torch.ones(3, 9),)], dynamic_shapes=({},))
"""
        model = self._write("model.py", source)
        archive = os.path.join(self._folder.name, "model.pt2")
        nowhere = os.path.join(self._folder.name, "nowhere", "model.pt2")
        for function, path, words in (
            ("misspelt", archive, "returns 'kwarg', expected one of module, calls, kwargs, dynamic_shapes"),
            ("tensor", archive, "'calls' must list the arguments of at least one call"),
            ("raises", archive, ":raises: raises NameError: name 'no_such_name' is not defined"),
            ("late", archive, "model.pt2: call 1: raises RuntimeError"),
            ("model", nowhere, "model.pt2: cannot be written: "),
        ):
            ran = _run(sys.executable, "-m", "graphgate_torch", "export", f"{model}:{function}", path)
            self.assertEqual(ran.returncode, 4, function)
            self.assertIn(words, ran.stderr.splitlines()[-1])
            self.assertEqual("Traceback" in ran.stderr, function in ("raises", "late"), ran.stderr)
            self.assertEqual(os.listdir(os.path.dirname(archive)).count("model.pt2"), 0)

    def test_a_recorded_size_of_one_is_told_and_judged(self):
        model = self._write("model.py", _ONE_TOKEN)
        archive = os.path.join(self._folder.name, "model.pt2")
        ran = _run(sys.executable, "-m", "graphgate_torch", "export", model + ":model", archive, check=True)
        self.assertIn("call 1: size 0 of input 0 is 1, and torch.export says", ran.stdout)
        self.assertIn("judge this program with --allow-zero-and-one", ran.stdout)
        self.assertNotIn("Using None", ran.stderr)
        ran = _run(GRAPHGATE, "check", "--allow-zero-and-one", archive)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)

    def test_a_model_that_is_not_there_is_one_line(self):
        ran = _run(sys.executable, "-m", "graphgate_torch", "export", "nowhere.py:model", "x.pt2")
        self.assertEqual(ran.returncode, 4)
        self.assertEqual(ran.stderr, "graphgate_torch: nowhere.py: no such file\n")


def main(module):
    """Runs the tests of a module that was started with GRAPHGATE and GOLDEN_DIRECTORY."""
    global GRAPHGATE, GOLDEN
    GRAPHGATE, GOLDEN = sys.argv.pop(1), sys.argv.pop(1)
    why = os.environ.get("GRAPHGATE_NO_TORCH")
    try:
        import safetensors  # noqa: F401
        import torch  # noqa: F401
    except ImportError as error:
        why = why or error
    if why:
        print(f"skipped: {why}")
        sys.exit(77)
    unittest.main(module)


if __name__ == "__main__":
    main("__main__")
