"""Tests the check of the model against Inductor itself: upstream_test.py GRAPHGATE GOLDEN.

Ends with status 77, which ctest takes for skipped, where there is no PyTorch.
"""

import copy
import json
import os
import subprocess
import sys
import tempfile
import unittest

_HERE = os.path.dirname(os.path.abspath(__file__))
_ADAPTER = os.path.dirname(_HERE)
sys.path[:0] = [_HERE, _ADAPTER]
import serve_test  # noqa: E402

_ENVIRONMENT = os.environ | {"PYTHONPATH": _ADAPTER}

# A few programs that are cut: what crosses the edges is a tail of allocations, a view that is freed,
# a tuple, a buffer that is written in place.
_CASES = ("catalogue/p1-tail-allocation", "catalogue/p2-freed-and-not-read", "catalogue/p4-write-crosses-partitions",
          "partition/residual", "signature/long-lived-value")

# x -> a = mm(x, x) | b = exp(a) | c = mm(b, a)
_DECIDED = {
    "values": {"x": ["x"], "a": ["buf0"], "b": ["buf1"], "c": ["buf2"]},
    "partitions": [
        {"captured": True, "reasons": [], "operations": [["op0", "a"]], "inputs": [[["x"], True]],
         "outputs": [["buf0"]], "symbols": []},
        {"captured": False, "reasons": ["custom"], "operations": [["op1", "b"]],
         "inputs": [[["buf0"], False]], "outputs": [["buf1"], ["buf0"]], "symbols": []},
        {"captured": True, "reasons": [], "operations": [["op2", "c"]],
         "inputs": [[["buf0"], True], [["buf1"], True]], "outputs": [["buf2"]], "symbols": ["s0"]},
    ],
    "lines": [["fresh", "buf0", None], ["reuse", "buf2", "buf0"]],
}
_PLAN = {
    "inputs": [{"value": "x"}],
    "values": [{"name": n, "buffer": n.upper()} for n in ("x", "a", "b", "c")],
    "steps": [{"name": n, "results": [n]} for n in ("a", "b", "c")],
    "blocks": [{"partitions": [
        {"captured": True, "reason": "", "begin_step": 0, "end_step": 1,
         "inputs": [{"buffer": "X", "deallocate": False}], "outputs": ["A", "X"], "symbols": []},
        {"captured": False, "reason": "split op", "begin_step": 1, "end_step": 2,
         "inputs": [{"buffer": "A", "deallocate": False}], "outputs": ["A", "B"], "symbols": []},
        {"captured": True, "reason": "", "begin_step": 2, "end_step": 3,
         "inputs": [{"buffer": "A", "deallocate": True}, {"buffer": "B", "deallocate": True}],
         "outputs": ["C"], "symbols": ["s0"]},
    ]}],
}
_PLACES = [{"buffer": "A", "how": "allocated"}, {"buffer": "B", "how": "allocated"},
           {"buffer": "C", "how": "reused", "old": "A"}]


def _compared(decided=_DECIDED, plan=_PLAN, places=_PLACES):
    from graphgate_torch.upstream_comparison import Comparison, Counts, Planned, Upstream

    counts = Counts()
    Comparison(Upstream(decided), Planned(plan, places), "g", counts, ["x"]).run()
    return counts


class ComparisonTest(unittest.TestCase):
    def test_finds_nothing_where_both_decide_the_same(self):
        counts = _compared()
        self.assertEqual({k: v for k, v in counts.kinds.items() if v}, {})
        self.assertEqual(counts.agreed["captured partitions"], 2)
        self.assertEqual(counts.agreed["signatures"], 2)
        self.assertEqual(counts.agreed["allocations"], 1)
        self.assertEqual(counts.agreed["reuses"], 1)
        self.assertEqual(counts.agreed["places, made by their kernel"], 1)

    def _one_kind(self, counts, what):
        self.assertEqual(counts.differed(what), 1, dict(counts.kinds))
        return next(iter(counts.kinds[what]))

    def test_sees_what_is_cut_on_one_side_alone(self):
        decided = copy.deepcopy(_DECIDED)
        decided["partitions"][1]["captured"] = True
        self.assertIn("captured upstream, cut here", self._one_kind(_compared(decided), "nodes"))

    def test_sees_an_input_that_is_missing(self):
        plan = copy.deepcopy(_PLAN)
        del plan["blocks"][0]["partitions"][2]["inputs"][0]
        self.assertEqual(self._one_kind(_compared(plan=plan), "signatures"), "input upstream alone")

    def test_sees_an_output_that_is_missing(self):
        decided = copy.deepcopy(_DECIDED)
        decided["partitions"][0]["outputs"] = []
        self.assertEqual(self._one_kind(_compared(decided), "signatures"), "output here alone")

    def test_sees_what_is_freed_on_one_side_alone(self):
        decided = copy.deepcopy(_DECIDED)
        decided["partitions"][2]["inputs"][0][1] = False
        self.assertEqual(self._one_kind(_compared(decided), "signatures"), "freed here alone")

    def test_sees_a_symbol_that_is_missing(self):
        plan = copy.deepcopy(_PLAN)
        plan["blocks"][0]["partitions"][2]["symbols"] = []
        self.assertEqual(self._one_kind(_compared(plan=plan), "signatures"), "symbols upstream alone")

    def test_sees_another_buffer_s_bytes(self):
        places = [*_PLACES[:2], {"buffer": "C", "how": "reused", "old": "B"}]
        self.assertEqual(self._one_kind(_compared(places=places), "reuses"), "another buffer's bytes")

    def test_sees_a_reuse_that_is_none_upstream(self):
        decided = copy.deepcopy(_DECIDED)
        decided["lines"][1] = ["fresh", "buf2", None]
        self.assertEqual(self._one_kind(_compared(decided), "allocations"),
                         "allocated upstream, reused here")

    def test_sees_a_storage_that_is_a_view_on_one_side_alone(self):
        plan = copy.deepcopy(_PLAN)
        plan["values"][3]["buffer"] = "A"
        self.assertEqual(self._one_kind(_compared(plan=plan), "storages"),
                         "a copy upstream, a view here")


class UpstreamTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls._folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls._folder.cleanup)
        cases = [os.path.join(serve_test.GOLDEN, "cases", name + ".case") for name in _CASES]
        cls.first = cls._upstream(*cases)

    @classmethod
    def _upstream(cls, *words):
        return subprocess.run(
            [sys.executable, "-m", "graphgate_torch", "upstream", "--graphgate", serve_test.GRAPHGATE,
             "--folder", cls._folder.name, *words], capture_output=True, text=True, env=_ENVIRONMENT)

    def test_finds_the_model_of_this_version_right(self):
        said = self.first
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
        agreed = {
            line.partition(":")[0]: int(line.split()[-4])
            for line in said.stdout.splitlines() if line.endswith(" differ")
        }
        # A comparison of nothing is none.
        self.assertGreater(agreed["captured partitions"], 10, said.stdout)
        self.assertGreater(agreed["signatures"], 10, said.stdout)
        self.assertGreater(agreed["allocations"], 10, said.stdout)

    def test_finds_the_model_of_another_version_wrong(self):
        # What is stored is compared with what 2.9.0 decided: it lost an allocation at a partition's end.
        said = self._upstream("--profile", "torch-2.9.0")
        self.assertEqual(said.returncode, 1, said.stdout + said.stderr)
        self.assertIn("allocated upstream, none here", said.stdout)

    def test_finds_what_was_decided_twice_the_same_and_every_other_decision(self):
        said = self._upstream("--against", self._folder.name)
        self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
        self.assertIn("captured partitions: ", said.stdout)
        self.assertNotIn("not compared", said.stdout)
        for line in said.stdout.splitlines():
            self.assertTrue("differ" not in line or line.endswith(" 0 differ"), line)
        with tempfile.TemporaryDirectory() as other:
            names = [n for n in sorted(os.listdir(self._folder.name)) if n.endswith(".json")]
            for name in names[1:]:  # the first is a graph that only one folder has
                with open(os.path.join(self._folder.name, name), encoding="utf-8") as file:
                    stored = json.load(file)
                for variant in stored["variants"]:
                    for line in variant.get("decided", {"lines": []})["lines"]:
                        line[0] = {"fresh": "dropped", "dropped": "fresh"}.get(line[0], line[0])
                with open(os.path.join(other, name), "w", encoding="utf-8") as file:
                    json.dump(stored, file)
            said = self._upstream("--against", other)
        self.assertEqual(said.returncode, 1, said.stdout + said.stderr)
        self.assertIn("not listed: ", said.stdout)
        self.assertIn("allocated upstream, none here", said.stdout)
        self.assertIn("the other folder has no such graph", said.stdout)

    def test_says_in_one_line_what_is_not_there(self):
        said = self._upstream("--against", "no-such-folder")
        self.assertEqual(said.returncode, 4)
        self.assertEqual(
            said.stderr, "graphgate_torch: --against no-such-folder: there is no such folder\n")

    def test_says_in_one_line_that_there_is_no_binary(self):
        said = subprocess.run(
            [sys.executable, "-m", "graphgate_torch", "upstream", "--graphgate", "no-such-binary", "x"],
            capture_output=True, text=True, env=_ENVIRONMENT)
        self.assertEqual(said.returncode, 3)
        self.assertIn("no-such-binary", said.stderr)
        self.assertEqual(len(said.stderr.splitlines()), 1, said.stderr)


if __name__ == "__main__":
    serve_test.main("__main__")
