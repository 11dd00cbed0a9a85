"""Tests graphgate.check, export and assert_conforms: api_test.py GRAPHGATE.

Ends with status 77, which ctest takes for skipped, where there is no PyTorch.
"""

import os
import shutil
import sys
import tempfile
import unittest
from unittest import mock

_PYTHON = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_ADAPTERS = os.path.join(os.path.dirname(_PYTHON), "adapters")
sys.path[:0] = [_PYTHON, os.path.join(_ADAPTERS, "torch")]

try:
    if "GRAPHGATE_NO_TORCH" in os.environ:
        raise ImportError(os.environ["GRAPHGATE_NO_TORCH"])
    import safetensors.torch
    import torch
except ImportError as missing:
    print(f"skipped: {missing}; GRAPHGATE_TORCH_PYTHON names an interpreter that has PyTorch")
    sys.exit(77)

import graphgate  # noqa: E402
from graphgate import Outcome  # noqa: E402

# Shows in a program that keeps a state: one call too many runs on it.
_WRONG = ["--deviation", "warm_up_mutates"]


class Counting(torch.nn.Module):
    """Counts what it is given, and drops out half of it while it is trained."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.linear = torch.nn.Linear(8, 8)
        self.dropout = torch.nn.Dropout(0.5)
        self.register_buffer("total", torch.zeros(8))

    def forward(self, x, *, scale=1.0):
        self.total.add_(x.sum(0))
        return self.dropout(torch.relu(self.linear(x))) * scale, self.total * 2


class Checked(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(2)
        self._scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self._scratch.cleanup)
        # What a check leaves behind must be seen.
        patched = mock.patch.object(tempfile, "tempdir", self._scratch.name)
        patched.start()
        self.addCleanup(patched.stop)
        self._x = torch.randn(4, 8)

    def _left(self):
        """What lies there now, but for Inductor's cache, which comes with its import."""
        return [name for name in os.listdir(self._scratch.name) if not name.startswith("torchinductor")]


class Check(Checked):
    def test_a_right_model_passes_and_leaves_nothing(self):
        result = graphgate.check(Counting(), (self._x,), {"scale": 0.5})
        self.assertIs(result.outcome, Outcome.PASS, result.report)
        self.assertTrue(result)
        self.assertIn("1 passed, 0 failed", str(result))
        program = result.json["programs"][0]
        self.assertTrue(program["recorded"])  # PyTorch's own values took part
        self.assertEqual({each["executor"] for each in program["executors"]}, {"reference", "optimized"})
        self.assertIsNone(result.folder)
        self.assertEqual(self._left(), [])

    def test_calls_of_several_sizes_share_states(self):
        more = [((torch.randn(6, 8),), {"scale": 2.0}), ((torch.randn(5, 8),), {"scale": 2.0})]
        result = graphgate.check(Counting(), (self._x,), {"scale": 2.0}, more_calls=more)
        self.assertTrue(result, result.report)
        self.assertEqual(result.json["programs"][0]["calls"], 3)

    def test_the_callers_things_stay_as_they_are(self):
        model = Counting()
        before = {name: each.clone() for name, each in model.state_dict().items()}
        x = self._x.clone()
        random_state = torch.get_rng_state()
        torch.backends.mha.set_fastpath_enabled(True)

        self.assertTrue(graphgate.check(model, (x,)))
        self.assertTrue(graphgate.check(lambda x: x.add_(1) * 2, (x,)))
        self.assertTrue(torch.equal(x, self._x))
        self.assertTrue(torch.equal(random_state, torch.get_rng_state()))
        self.assertTrue(torch.backends.mha.get_fastpath_enabled())
        self.assertTrue(model.training)
        for name, each in model.state_dict().items():
            self.assertTrue(torch.equal(each, before[name]), name)

    def test_inputs_of_one_storage_stay_so(self):
        both = torch.arange(8.0)
        folder = os.path.join(self._scratch.name, "kept")
        # Written through one input, read through the other.
        result = graphgate.check(lambda x, y: x.add_(1) + y, (both[:6], both[2:]), folder=folder)
        self.assertTrue(result, result.report)
        recorded = safetensors.torch.load_file(os.path.join(folder, "model.safetensors"))
        self.assertTrue(torch.equal(recorded["call0.storage0"].view(torch.float32), torch.arange(8.0)))
        found = recorded["call0.output0.float32"]
        self.assertTrue(torch.equal(found, torch.tensor([4.0, 6, 8, 10, 11, 13])), found)

    def test_inputs_that_want_gradients_are_values(self):
        x = torch.randn(4, 8, requires_grad=True) * 2
        self.assertTrue(graphgate.check(torch.nn.ReLU(), (x,)))

    def test_an_exported_program_is_judged_from_its_first_state(self):
        program = torch.export.export(Counting().eval(), (self._x,))
        result = graphgate.check(program, (self._x,), more_calls=[((self._x,), {})])
        self.assertTrue(result, result.report)
        self.assertTrue(result.json["programs"][0]["recorded"])
        self.assertTrue(torch.equal(program.state_dict["total"], torch.zeros(8)))

    def test_a_compiled_model_is_what_it_was_made_of(self):
        self.assertTrue(graphgate.check(torch.compile(Counting()), (self._x,)))

    def test_a_finding_keeps_what_shows_it_again(self):
        result = graphgate.check(Counting(), (self._x,), more_calls=[((self._x,), {})], flags=_WRONG)
        self.assertIs(result.outcome, Outcome.FINDINGS)
        self.assertFalse(result)
        self.assertIn("FAIL", result.report)
        self.assertEqual(
            sorted(os.listdir(result.folder)), ["model.geometry.json", "model.pt2", "model.safetensors"])
        self.assertEqual(os.system(result.command + " >/dev/null 2>&1") >> 8, 1)

    def test_a_folder_of_the_callers_is_kept(self):
        folder = os.path.join(self._scratch.name, "mine/deeper")
        os.makedirs(folder)
        own = os.path.join(folder, "report.json")
        with open(own, "w", encoding="utf-8") as file:
            file.write("the caller's")
        result = graphgate.check(Counting(), (self._x,), folder=folder, decompose=True)
        self.assertTrue(result, result.report)
        self.assertIn("model.core.pt2", os.listdir(folder))
        with open(own, encoding="utf-8") as file:
            self.assertEqual(file.read(), "the caller's")
        self.assertTrue(result.command.endswith("model.core.pt2"), result.command)
        again = graphgate.check(os.path.join(folder, "model.pt2"), judges=["bounds", "verifier"])
        self.assertTrue(again, again.report)
        judges = {each["judge"] for each in again.json["programs"][0]["executors"][0]["judges"]}
        self.assertEqual(judges, {"bounds", "verifier"})

    def test_pytorch_of_this_interpreter_is_under_test(self):
        result = graphgate.check(Counting(), (self._x,), backend="eager", executor_timeout=120)
        self.assertTrue(result, result.report)
        (judged,) = result.json["programs"][0]["executors"]
        self.assertIn("graphgate_torch serve --backend eager --device cpu", judged["executor"])

    def test_an_executor_that_breaks_down_does_not_pass(self):
        result = graphgate.check(Counting(), (self._x,), executor="false")
        self.assertIs(result.outcome, Outcome.INFRASTRUCTURE)
        self.assertIn("ended with status 1", result.report)


class Refused(Checked):
    def test_what_torch_export_refuses_is_said_in_its_words(self):
        with self.assertRaises(graphgate.NotExported) as caught:
            graphgate.check(lambda x: x + 1 if x.sum() > 0 else x, (self._x,))
        self.assertTrue(str(caught.exception).startswith("torch.export refuses it: "), caught.exception)
        self.assertEqual(self._left(), [])

    def test_arguments_that_say_too_much_or_too_little(self):
        for said, options in (
            ("backend and executor both", {"backend": "eager", "executor": "optimized"}),
            ("has no effect without a backend", {"backend_options": {"cpp_wrapper": True}}),
            ("expected one of compile, eager", {"backend": "inductor"}),
        ):
            with self.assertRaisesRegex(graphgate.Error, said):
                graphgate.check(Counting(), (self._x,), **options)
        with self.assertRaisesRegex(graphgate.Error, "goes without arguments"):
            graphgate.check("model.pt2", (self._x,))
        with self.assertRaisesRegex(TypeError, "a tuple and a dictionary"):
            graphgate.check(Counting(), self._x)
        with self.assertRaisesRegex(TypeError, "a tuple and a dictionary"):
            graphgate.check(Counting(), (self._x,), more_calls=[(self._x,)])
        program = torch.export.export(Counting().eval(), (self._x,))
        with self.assertRaisesRegex(graphgate.NotExported, "'dynamic_shapes' are for a module"):
            graphgate.check(program, (self._x,), dynamic_shapes=({0: torch.export.Dim.AUTO},))
        self.assertEqual(self._left(), [])

    def test_a_file_that_is_missing_is_bad_input(self):
        result = graphgate.check("no-such.pt2")
        self.assertIs(result.outcome, Outcome.BAD_INPUT)
        self.assertIn("no-such.pt2", result.report)
        self.assertEqual(result.json["programs"][0]["outcome"], "ERROR")
        dashed = graphgate.check("--version")
        self.assertIs(dashed.outcome, Outcome.BAD_INPUT)
        self.assertIn("./--version", dashed.report)

    def _with_program(self, text):
        """A context in which PATH begins with a folder whose `graphgate` is this script."""
        folder = os.path.join(self._scratch.name, "bin")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "graphgate"), "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(file.name, 0o755)
        return mock.patch.dict(os.environ, PATH=folder + ":" + os.environ["PATH"])

    def test_a_program_that_is_missing_says_where_it_was_looked_for(self):
        with mock.patch.dict(os.environ, PATH="/nowhere"):
            with self.assertRaisesRegex(graphgate.Error, "nor on PATH"):
                graphgate.check(Counting(), (self._x,))
        self.assertEqual(self._left(), [])

    def test_the_command_of_a_wheel_is_no_program(self):
        # It runs this package, which would look for the program again, and for ever.
        with self._with_program("#!/usr/bin/python3\nfrom graphgate.__main__ import main\nmain()\n"):
            with self.assertRaisesRegex(graphgate.Error, "nor on PATH"):
                graphgate.check("model.pt2")

    def test_a_crash_is_a_defect(self):
        for number, outcome in ((11, Outcome.DEFECT), (9, Outcome.INFRASTRUCTURE)):
            with self._with_program(f"#!/bin/sh\nkill -{number} $$\n"):
                result = graphgate.check("model.pt2")
            self.assertIs(result.outcome, outcome)
            self.assertIn(f"ended by signal {number}", result.report)


class AssertConforms(Checked):
    def test_a_right_model_gives_the_result(self):
        self.assertTrue(graphgate.assert_conforms(Counting(), (self._x,)))

    def test_it_fails_with_the_report_and_a_line_to_paste(self):
        with self.assertRaises(AssertionError) as caught:
            graphgate.assert_conforms(
                Counting(), (self._x,), more_calls=[((self._x,), {})], flags=_WRONG)
        said = str(caught.exception)
        self.assertTrue(said.startswith("graphgate check: FINDINGS\nFAIL "), said)
        self.assertIn("\nagain: graphgate check -v --deviation warm_up_mutates ", said)

    def test_what_cannot_be_decided_fails_unless_it_may(self):
        @torch.library.custom_op("graphgate_api_test::twice", mutates_args=())
        def twice(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        twice.register_fake(torch.empty_like)
        with self.assertRaisesRegex(AssertionError, "INCONCLUSIVE(.|\n)*graphgate_api_test.twice"):
            graphgate.assert_conforms(lambda x: twice(x), (self._x,))
        result = graphgate.assert_conforms(lambda x: twice(x), (self._x,), allow_inconclusive=True)
        self.assertFalse(result)


class Export(Checked):
    def test_it_returns_the_archive_and_records(self):
        path = graphgate.export(
            Counting(), (self._x,), path=os.path.join(self._scratch.name, "m.pt2"),
            dynamic_shapes={"x": {0: torch.export.Dim.AUTO}, "scale": None}, kwargs={"scale": 1.0})
        self.assertEqual(sorted(self._left()), ["m.geometry.json", "m.pt2", "m.safetensors"])
        result = graphgate.check(path)
        self.assertTrue(result, result.report)
        with self.assertRaisesRegex(graphgate.NotExported, "ends in .pt2"):
            graphgate.export(Counting(), (self._x,), path="m.onnx")


if __name__ == "__main__":
    # The program of the build is on PATH, as a user's is. Its name may be another.
    binary = os.path.abspath(sys.argv.pop(1))
    with tempfile.TemporaryDirectory() as bin_folder:
        os.symlink(binary, os.path.join(bin_folder, "graphgate"))
        os.environ["PATH"] = bin_folder + ":" + os.environ["PATH"]
        assert shutil.which("graphgate").startswith(bin_folder)
        unittest.main()
