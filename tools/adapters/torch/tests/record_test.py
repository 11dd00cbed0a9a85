"""Tests what export and record write: record_test.py GRAPHGATE GOLDEN.

Ends with status 77, which ctest takes for skipped, where there is no PyTorch.
"""

import glob
import importlib.util
import json
import os
import sys
import unittest
import zipfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import serve_test  # noqa: E402

# Each runs a program as it is and recorded, and compares bits. `wrap` compiles what it is given.
_HEAD = """import sys
import warnings
import torch
from torch import nn
from torch.nn import functional as F
import graphgate_torch

warnings.simplefilter("ignore")
FOLDER = sys.argv[1]

def compare(run, **options):
    torch.compiler.reset()
    torch.manual_seed(3)
    plain = run(lambda f: torch.compile(f, backend="eager"))
    state = torch.get_rng_state()
    torch.compiler.reset()
    torch.manual_seed(3)
    recorded = run(lambda f: torch.compile(f, backend=graphgate_torch.record(FOLDER, **options)))
    assert torch.equal(state, torch.get_rng_state()), "random numbers"
    plain, recorded = (torch.utils._pytree.tree_leaves(each) for each in (plain, recorded))
    assert len(plain) == len(recorded)
    for a, b in zip(plain, recorded):
        assert type(a) is type(b)
        if isinstance(a, torch.Tensor):
            assert torch.equal(a, b) and a.stride() == b.stride(), (a, b)
        else:
            assert a == b, (a, b)

"""

_TRAINING = """
def train(wrap):
    model = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Dropout(0.25), nn.Linear(6, 3))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    loss_of = wrap(lambda x, y: F.cross_entropy(model(x), y))
    step = wrap(optimizer.step)
    losses = []
    for i in range(4):
        loss = loss_of(torch.randn(5, 4), torch.randint(3, (5,)))
        optimizer.zero_grad()
        loss.backward()
        step()
        losses.append(loss.detach())
    states = [each for state in optimizer.state.values() for each in state.values()]
    return losses, states, list(model.state_dict().values())

compare(train, calls=2)
"""

# Sizes that change, several graphs, numbers and None, what is written, and what is shared.
_SHAPES = """
def program(wrap):
    def two_graphs(x, n):
        y = x * n
        print(end="")
        return y + x.shape[0], None, x.shape[0] * 2

    def writes(x, y):
        x.add_(1)
        y[0] = 5
        return x.t(), y.sum()

    f, g = wrap(two_graphs), wrap(writes)
    out = [f(torch.ones(size, 3), 2) for size in (4, 5, 6)]
    both = torch.arange(12.0)
    out.append(g(both[:6].view(2, 3), both[6:]))
    out.append(g(both[:4].view(2, 2), both[4:]))
    return out, both

compare(program)
"""

# What wants gradients is a view, of which two outputs are made; one is given none.
_GRADIENTS = """
def program(wrap):
    weight = torch.randn(3, 3, requires_grad=True)
    def f(x, w):
        y = x @ w
        return y.relu(), y.sum(0), x * 2
    f = wrap(f)
    x = torch.randn(2, 3, requires_grad=True)
    a, b, c = f(x * 1, weight.t())
    (a * 3).sum().backward(retain_graph=True)
    b.sum().backward()
    a.sum(), c.detach()
    return a.detach(), b.detach(), x.grad, weight.grad

compare(program)
"""

_CONTEXT = """
torch.manual_seed(1)
model = torch.compile(nn.Linear(3, 2))
with graphgate_torch.record(FOLDER):
    model(torch.ones(4, 3)).sum().backward()
"""

_BROKEN = """
from graphgate_torch import recording

def fail(program, path):
    open(path, "w").write("half")
    raise OSError(28, "No space left on device")

recording.save_program = fail
compare(lambda wrap: wrap(lambda x: x + 1)(torch.ones(3)))
"""

_SUBCLASS = """
class Named(torch.Tensor):
    pass

compare(lambda wrap: wrap(lambda x: x.add_(1) * 2)(torch.ones(3).as_subclass(Named)).as_subclass(torch.Tensor))
"""

_CALLS = """import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x, *, scale=None, bias, times=2):
        y = self.linear(x) * times
        if scale is not None:
            y = y * scale
        return {"y": y + bias, "rows": y.shape[0], "none": None}

def words():
    torch.manual_seed(1)
    first = {"bias": torch.ones(4), "scale": torch.rand(4)}
    second = {"scale": torch.rand(4), "bias": torch.zeros(4)}  # in another order
    calls = [(torch.randn(3, 4),), (torch.randn(5, 4),)]
    return {"module": torch.compile(Model()), "calls": calls, "kwargs": [first, second]}

def function():
    return {"module": lambda x, n: (x * n, n + 1), "calls": [(torch.randn(3, 4), 3)]}

def refused():
    return {"module": lambda x: x + 1 if x.sum() > 0 else x, "calls": [(torch.ones(2),)]}

def uneven():
    return {"module": Model(), "calls": [(torch.ones(2, 4),)], "kwargs": [{}, {}]}
"""

_BERT = """
import sys
import transformers

config = transformers.BertConfig(
    vocab_size=20, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
    max_position_embeddings=16, attn_implementation="eager",
)
transformers.BertModel(config).save_pretrained(sys.argv[1])
"""


_FMA = "import torch, torch._inductor.inductor_prims; torch.ops.prims.fma"


class Files(serve_test.Checked):
    """What `export` and `record` leave in a folder."""

    def _record(self, script):
        """Runs a script that records. Its folder's archives, by name, and what it said."""
        folder = os.path.join(self._folder.name, "recorded")
        path = self._write("script.py", _HEAD + script)
        ran = serve_test._run(sys.executable, path, folder)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        said = [line for line in ran.stderr.splitlines() if line.startswith("graphgate_torch:")]
        return folder, sorted(os.path.basename(each) for each in glob.glob(folder + "/*.pt2")), said

    def _passes(self, *paths):
        ran = serve_test._run(serve_test.GRAPHGATE, "check", *paths)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        return ran.stdout

    def _export(self, name, *words):
        model = self._write("model.py", _CALLS)
        archive = os.path.join(self._folder.name, "model.pt2")
        return archive, serve_test._run(
            sys.executable, "-m", "graphgate_torch", "export", f"{model}:{name}", archive, *words)


class Record(Files):
    def test_a_training_step_is_three_archives_that_pass(self):
        folder, archives, said = self._record(_TRAINING)
        self.assertEqual(said, [])
        kinds = {name.removesuffix(".pt2").split("_")[1] for name in archives}
        self.assertEqual(kinds, {"forward", "backward", "inference"})
        told = self._passes(*(os.path.join(folder, name) for name in archives))
        self.assertIn("2 recorded calls", told)

    def test_archives_name_no_file_of_the_machine(self):
        folder, archives, _ = self._record(_GRADIENTS)
        for name in archives:
            with zipfile.ZipFile(os.path.join(folder, name)) as archive:
                for entry in archive.namelist():
                    content = archive.read(entry)
                    self.assertNotIn(self._folder.name.encode(), content, name)
                    self.assertNotIn(b"site-packages", content, name)

    def test_sizes_numbers_writes_and_shared_inputs_pass(self):
        folder, archives, said = self._record(_SHAPES)
        self.assertEqual(said, [])
        self.assertGreater(len(archives), 3)
        self._passes(*(os.path.join(folder, name) for name in archives))

    def test_gradients_that_come_in_several_passes_are_calls_of_one_graph(self):
        folder, archives, said = self._record(_GRADIENTS)
        self.assertEqual(said, [])
        self.assertEqual(archives, ["graph0_backward.pt2", "graph0_forward.pt2"])
        self._passes(*(os.path.join(folder, name) for name in archives))

    def test_what_is_compiled_inside_the_context_is_recorded(self):
        folder, archives, said = self._record(_CONTEXT)
        self.assertEqual(said, [])
        self.assertEqual(archives, ["graph0_backward.pt2", "graph0_forward.pt2"])

    def test_what_cannot_be_written_is_one_line_and_nothing_is_left(self):
        folder, archives, said = self._record(_BROKEN)
        self.assertEqual(os.listdir(folder), [])
        self.assertEqual(len(said), 1, said)
        self.assertIn("graph0: not recorded: OSError: [Errno 28] No space left on device", said[0])

    def test_what_cannot_be_copied_is_one_line(self):
        _, archives, said = self._record(_SUBCLASS)
        self.assertEqual(archives, [])
        self.assertEqual(len(said), 1, said)
        self.assertIn("not recorded: TypeError: an input is a Named", said[0])

    def test_graphs_of_two_runs_are_not_mixed(self):
        os.mkdir(os.path.join(self._folder.name, "recorded"))
        self._write("recorded/graph0_inference.pt2", "")
        folder, _, said = self._record(_GRADIENTS)
        self.assertEqual(os.listdir(folder), ["graph0_inference.pt2"])
        self.assertEqual(
            said, [f"graphgate_torch: {folder}: holds graphs of another run; nothing is recorded"])


class Export(Files):
    def test_arguments_by_name_in_any_order_and_sizes_that_differ(self):
        archive, ran = self._export("words", "--decompose")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        told = self._passes(archive, archive.replace(".pt2", ".core.pt2"))
        self.assertEqual(told.count("2 recorded calls"), 2, told)
        with open(archive.replace(".pt2", ".geometry.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file)["calls"]["call1"][1:], [5, None])

    def test_a_function_and_numbers(self):
        archive, ran = self._export("function")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self._passes(archive)

    def test_what_torch_export_refuses_is_one_line_and_nothing_is_left(self):
        archive, ran = self._export("refused")
        self.assertEqual(ran.returncode, 4)
        last = ran.stderr.splitlines()[-1]
        self.assertTrue(last.startswith(f"graphgate_torch: {archive}: torch.export refuses it: "), last)
        self.assertEqual(os.listdir(self._folder.name), ["model.py"])

    def test_keywords_for_each_call(self):
        _, ran = self._export("uneven")
        self.assertEqual(ran.returncode, 4)
        self.assertIn("'kwargs' must list a dictionary for each of the 1 calls", ran.stderr)

    def test_a_model_of_transformers_that_is_not_here_is_one_line(self):
        archive = os.path.join(self._folder.name, "model.pt2")
        ran = serve_test._run(
            sys.executable, "-m", "graphgate_torch", "export", "nobody/no-such-model", archive)
        self.assertEqual(ran.returncode, 4)
        self.assertTrue(
            ran.stderr.splitlines()[-1].startswith("graphgate_torch: nobody/no-such-model: "), ran.stderr)

    @unittest.skipUnless(importlib.util.find_spec("transformers"), "transformers is not installed")
    def test_a_model_of_transformers_from_a_folder(self):
        folder = os.path.join(self._folder.name, "bert")
        serve_test._run(sys.executable, self._write("bert.py", _BERT), folder, check=True)
        archive = os.path.join(self._folder.name, "model.pt2")
        serve_test._run(
            sys.executable, "-m", "graphgate_torch", "export", folder, archive, "--dynamic", check=True)
        self.assertIn("2 recorded calls", self._passes(archive))


class Training(Files):
    def test_golden_training_graphs_pass_in_eager_mode_and_compiled(self):
        if serve_test._run(sys.executable, "-c", _FMA).returncode != 0:
            self.skipTest("this PyTorch has no prims.fma")
        archives = sorted(glob.glob(os.path.join(serve_test.GOLDEN, "training", "*.pt2")))
        self.assertGreaterEqual(len(archives), 18)
        for backend in ("eager", "compile"):
            ran, _ = self._check(
                serve_test._executor("--backend", backend), "--judges", "bounds,state,verifier", *archives)
            self.assertEqual(ran.returncode, 0, backend + ran.stdout + ran.stderr)


if __name__ == "__main__":
    serve_test.main("__main__")
