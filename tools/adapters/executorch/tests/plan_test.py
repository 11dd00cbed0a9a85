"""The plans of ExecuTorch as graphgate's verifier reads them: plan_test.py GRAPHGATE GOLDEN_DIRECTORY."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import graphgate_executorch  # noqa: E402, F401 (finds the packages beside it)
from graphgate_adapter import threads  # noqa: E402

threads.import_numpy()

import torch  # noqa: E402
from executorch.exir import memory, memory_planning  # noqa: E402
from graphgate_executorch import lowering, plan  # noqa: E402
from graphgate_executorch.backend import Settings, Warming  # noqa: E402

GRAPHGATE = ""


class Long(torch.nn.Module):
    """Values that are needed at several times, and a view, and an op with two results."""

    def forward(self, x):
        a = torch.exp(x)
        b, c = torch.ops.aten.topk.default(torch.sin(a), 2)
        d, e = torch.ops.aten.split.Tensor(torch.cos(a).view(2, 2), 1)
        return (a.view(2, 2) + d, b, c, e)


class Conditional(torch.nn.Module):
    def forward(self, x):
        holds = x.sum() > 0
        return (torch.cond(holds, lambda v: v.sin(), lambda v: v.exp(), [x]) + 1.0,)


class Twice(torch.nn.Module):
    def forward(self, x):
        holds = x.sum() > 0
        a = torch.cond(holds, lambda v: v.sin(), lambda v: v.cos(), [x])
        return a, torch.cond(holds, lambda v: v.exp(), lambda v: v.cos(), [x])


class Put(torch.nn.Module):
    def forward(self, x, i, v):
        y = torch.ops.aten.index_put.default(x * 2.0, [i], v)
        return (y + torch.cos(torch.sin(torch.tanh(torch.exp(x)))),)


class Viewed(torch.nn.Module):
    """A value that is read by a view of it alone, long after it was made; outputs that are made early."""

    def forward(self, x):
        early = torch.tanh(x)
        a = torch.exp(x).view(2, 2)
        b = torch.cos(torch.sin(torch.cos(torch.sin(x))))
        return (early, torch.mm(a, b.view(2, 2)))


@contextlib.contextmanager
def _put(name, function):
    """Has a function of ExecuTorch's planning be another one meanwhile."""
    kept = getattr(memory_planning, name)
    setattr(memory_planning, name, function)
    try:
        yield
    finally:
        setattr(memory_planning, name, kept)


def _lifetimes(changed):
    """A planter: lifetimes are those of ExecuTorch, without what `changed` leaves out."""
    kept = memory_planning.update_tensor_lifetime

    def update(node, spec, *words):
        if not changed(node, spec):
            kept(node, spec, *words)
        elif spec.lifetime[0] is None:
            raise AssertionError(f"{node}: its value would have no lifetime")

    return _put("update_tensor_lifetime", update)


def _ends_a_step_early(planner):
    # A value is needed up to the step before its last reader. Each step is two nodes: alloc, and the op.
    kept = memory_planning.update_all_tensors_lifetime

    def update(*words):
        specs = kept(*words)
        for spec in specs:
            spec.lifetime = [spec.lifetime[0], max(spec.lifetime[0], spec.lifetime[1] - 2)]
        return specs

    return _put("update_all_tensors_lifetime", update)


def _forgets_views(planner):
    def is_through_view(node, spec):
        views = (each for each in node.all_input_nodes if each.target == memory.view)
        return any(each.args[0].meta["spec"] is spec for each in views)

    return _lifetimes(is_through_view)


def _forgets_outputs(planner):
    return _lifetimes(lambda node, spec: node.op == "output")


@contextlib.contextmanager
def _takes_half(planner):
    """Plants a planner that takes half of the bytes before a value in its arena for free."""
    kept = getattr(lowering, planner)

    def half(*words, **named):
        result = kept(*words, **named)
        for each in result.spec_dict.values():
            each.mem_offset = each.mem_offset // 32 * 16
        return result

    half.__name__ = kept.__name__
    setattr(lowering, planner, half)
    try:
        yield
    finally:
        setattr(lowering, planner, kept)


class Plans(unittest.TestCase):
    def _lowered(self, module, *more, **settings):
        with torch.no_grad():
            return lowering.lower(module, (torch.arange(1.0, 5.0), *more), Settings(**settings))

    def _verify(self, own):
        with tempfile.TemporaryDirectory() as folder:
            paths = [os.path.join(folder, name) for name in ("plan.json", "program.txt", "ops")]
            for path, text in zip(paths, (json.dumps(own.plan), own.program, "\n".join(own.ops))):
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text)
            ran = subprocess.run(
                [GRAPHGATE, "plan", "--verify", paths[0], "--program", paths[1], "--custom-ops", paths[2]],
                capture_output=True, text=True, check=False)
        return ran.returncode, ran.stdout + ran.stderr

    def test_right_plans_have_no_findings(self):
        for module, settings in (
            (Warming(), {}), (Warming(), {"planner": "naive"}), (Long(), {}), (Long(), {"planner": "naive"}),
            (Long(), {"plans_inputs": False}), (Long(), {"plans_outputs": False}),
            (Long(), {"removes_view_copies": False}), (Conditional(), {}),
            (Conditional(), {"planner": "naive"}), (Put(), {"planner": "naive", "reinplaces": True}),
        ):
            more = (torch.tensor([1]), torch.tensor([9.0])) if isinstance(module, Put) else ()
            owns = plan.read(self._lowered(module, *more, **settings).program)
            self.assertEqual(len(owns), 2 if isinstance(module, Conditional) else 1)
            for own in owns:
                with self.subTest(module=type(module).__name__, settings=settings):
                    self.assertEqual(self._verify(own)[0], 0, self._verify(own)[1] + own.program)

    def test_every_value_of_the_graph_has_the_place_that_its_spec_says(self):
        lowered = self._lowered(Long())
        (own,) = plan.read(lowered.program)
        places = {each["name"]: (each["pool"], each["offset_bytes"]) for each in own.plan["buffers"]}
        seen = 0
        for node in lowered.program.exported_program().graph.nodes:
            spec = node.meta.get("spec")
            if node.name in places and getattr(spec, "mem_offset", None) is not None and node.op == "call_function":
                seen += 1
                self.assertEqual(places[node.name], (f"memory{spec.mem_id}", spec.mem_offset))
        self.assertGreaterEqual(seen, 3)

    def test_a_value_that_is_planted_over_a_live_one_is_named(self):
        lowered = self._lowered(Long())
        nodes = {node.name: node for node in lowered.program.exported_program().graph.nodes}
        nodes["aten_sin_default"].meta["spec"].mem_offset = nodes["aten_exp_default"].meta["spec"].mem_offset
        (own,) = plan.read(lowered.program)
        status, said = self._verify(own)
        self.assertEqual(status, 1, said)
        self.assertIn("aten_sin_default", said)
        self.assertRegex(said, "V3.(overlap|in-place)")

    def test_faults_that_are_planted_in_planners_are_found_in_their_plans(self):
        for planter, planner, settings in (
            (_ends_a_step_early, "greedy", {}), (_forgets_views, "greedy", {}),
            (_forgets_outputs, "greedy", {}), (_takes_half, "naive", {}), (_takes_half, "greedy", {}),
        ):
            with self.subTest(fault=planter.__name__, planner=planner):
                for is_planted in (False, True):
                    with planter(planner) if is_planted else contextlib.nullcontext():
                        (own,) = plan.read(self._lowered(Viewed(), planner=planner, **settings).program)
                    status, said = self._verify(own)
                    self.assertEqual(status, 1 if is_planted else 0, said + own.program)
                self.assertRegex(said, "V3.(overlap|in-place|kept-bytes)")

    def test_what_executorch_plans_wrongly_is_found_in_its_plan(self):
        # Of 1.5.0: another version may have mended it, and then this test tells so.
        place = torch.tensor([1]), torch.tensor([9.0])
        for lowered in (self._lowered(Twice()), self._lowered(Put(), *place, reinplaces=True)):
            for own in plan.read(lowered.program):
                status, said = self._verify(own)
                self.assertEqual(status, 1, said)
                self.assertRegex(said, "V3.(overlap|kept-bytes)")


if __name__ == "__main__":
    GRAPHGATE = sys.argv.pop(1)
    sys.argv.pop(1)
    unittest.main()
