"""What Inductor decides for a graph, as a program and a plan that graphgate verifies.

The program is Inductor's own graph of operations, taken before it is scheduled: one node for each
operation, opaque, with what it reads, makes and writes in place. The plan is what the generated
wrapper does: kernels in their order, allocations, reuses, partitions and their signatures. Facts
come from the operations, claims from the wrapper, so `graphgate plan --verify` finds a buffer that
is reused while it is needed, an operand of the wrong version, or a signature that lacks an input.
Sizes are those that the graph was compiled for.
"""

import contextlib
import dataclasses
import json
import os
import traceback

import torch
from torch._inductor import graph as inductor_graph
from torch._inductor.codegen import wrapper as inductor_wrapper
from torch._inductor.virtualized import V

from graphgate_torch import inductor_facts
from graphgate_torch.inductor_reading import Reading
from graphgate_torch.inductor_writing import Writing
from graphgate_adapter.module import Unsupported


@dataclasses.dataclass
class Recorded:
    """What `graphgate plan --verify PLAN --program PROGRAM --custom-ops OPS` takes."""

    program: str
    ops: str
    plan: dict

    def message(self):
        """As an answer of the protocol holds it."""
        return {"graph": self.program, "ops": self.ops.splitlines(), "plan": self.plan}

    def write(self, folder, name):
        """The paths of plan, program and ops."""
        paths = [os.path.join(folder, name + end) for end in (".json", ".txt", ".ops")]
        for path, text in zip(paths, (json.dumps(self.plan, indent=1), self.program, self.ops)):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return paths


def _record(facts, wrappers, is_inline=False):
    writing = Writing(Reading(facts, wrappers, is_inline))
    return Recorded(writing.program(), writing.ops(), writing.plan())


class Recorder:
    """While it is entered, notes of every graph that Inductor compiles a program and a plan.

    It never raises, and changes nothing that Inductor makes of a graph. What it does not understand
    is a reason why a graph has no plan, and nothing else.
    """

    def __init__(self):
        self.graphs = []  # of Recorded
        self.reasons = []  # why others have none
        self._wrappers = []  # of the graph that is generated
        self._in_line = []  # graphs within it, in its own lines: (graph, facts, troubles)
        self._troubles = []  # what was not understood of it
        self._calls_partition = False
        self._undo = contextlib.ExitStack()

    def __enter__(self):
        self._watched(self._begin)
        if self._troubles:
            # What is recorded in part would be a wrong plan.
            self._undo.close()
            self.reasons += self._troubles
        return self

    def _begin(self):
        self._patch(inductor_graph.GraphLowering, "codegen", self._codegen)
        self._patch(inductor_graph.GraphLowering, "codegen_subgraph", self._codegen_in_line)
        wrapper = inductor_wrapper.PythonWrapperCodegen
        self._patch(wrapper, "writeline", self._writeline)
        self._patch(wrapper, "run_wrapper_ir_passes", self._planned)
        self._patch(wrapper, "codegen_partition_call", self._calling)

    def __exit__(self, *_):
        self._undo.close()

    def _patch(self, owner, name, replacement):
        original = getattr(owner, name, None)
        if original is None:
            version = torch.__version__
            raise Unsupported(
                f"the recorder of plans: {owner.__name__} of PyTorch {version} has no {name}"
            )

        def patched(this, *arguments, **named):
            return replacement(original, this, *arguments, **named)

        setattr(owner, name, patched)
        self._undo.callback(setattr, owner, name, original)

    def _writeline(self, original, wrapper, *arguments, **named):
        self._watched(lambda: self._note_owner(wrapper))
        return original(wrapper, *arguments, **named)

    def _note_owner(self, wrapper):
        scheduler = getattr(V.graph, "scheduler", None)
        owners = wrapper.__dict__.setdefault("graphgate_owners", {})
        # The scheduler goes on naming the partition's last node while its caller is written.
        node = None if self._calls_partition else getattr(scheduler, "current_node", None)
        owners[len(wrapper.lines)] = node, V.graph

    def _calling(self, original, wrapper, *arguments, **named):
        self._calls_partition = True
        try:
            return original(wrapper, *arguments, **named)
        finally:
            self._calls_partition = False

    def _planned(self, original, wrapper, is_inference, *arguments, **named):
        result = original(wrapper, is_inference, *arguments, **named)
        self._watched(lambda: self._note_lines(wrapper))
        return result

    def _note_lines(self, wrapper):
        self._wrappers.append((wrapper, list(wrapper.lines)))

    def _codegen(self, original, graph, *arguments, **named):
        # A graph within the graph is generated while its owner is.
        outer = self._wrappers, self._in_line, self._troubles
        self._wrappers, self._in_line, self._troubles = [], [], []
        try:
            facts = self._watched(inductor_facts.Facts)
            result = original(graph, *arguments, **named)
            self._finish(facts)
            for inner, inner_facts, troubles in self._in_line:
                self._troubles = troubles
                with V.set_graph_handler(inner):
                    self._finish(inner_facts, is_inline=True)
            return result
        finally:
            self._wrappers, self._in_line, self._troubles = outer

    def _codegen_in_line(self, original, graph, *arguments, **named):
        """A graph whose lines stand among those of its owner, and whose bytes are planned with them."""
        outer, self._troubles = self._troubles, []
        try:
            facts = self._watched(inductor_facts.Facts)
            self._in_line.append((graph, facts, self._troubles))
            return original(graph, *arguments, **named)
        finally:
            self._troubles = outer

    def _finish(self, facts, is_inline=False):
        if not self._troubles:
            recorded = self._watched(lambda: _record(facts, self._wrappers, is_inline))
            self.graphs += [recorded] if recorded else []
        self.reasons += self._troubles[:1]

    def _watched(self, do):
        """What it returns. Nothing here may change what Inductor makes of the graph, or whether."""
        try:
            return do()
        except Unsupported as error:
            why = str(error)
        except Exception as error:
            why = f"the recorder of plans: {type(error).__name__}: {error}"
            if not self._troubles:
                traceback.print_exc()
        self._troubles.append(" ".join(why.split()))
        return None
