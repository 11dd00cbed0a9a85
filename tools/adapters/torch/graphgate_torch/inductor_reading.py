"""What the lines of Inductor's wrappers do: who gets whose bytes, launches, partitions."""

import dataclasses
import re

from torch._inductor import ir, scheduler
from torch._inductor.codegen import memory_planning
from torch._inductor.codegen import wrapper as inductor_wrapper
from torch._inductor.virtualized import V

from graphgate_torch import inductor_facts, inductor_positions


class RecorderError(Exception):
    """The recorder does not understand what it reads. Nobody else is at fault."""


@dataclasses.dataclass
class Step:
    operations: list


@dataclasses.dataclass
class Partition:
    begin: int
    captured: bool
    signature: object = None
    end: int = 0


# Lines that launch nothing, of those that this version of PyTorch has.
_QUIET = tuple(
    getattr(inductor_wrapper, name)
    for name in (
        "MemoryPlanningLine",
        "FreeLine",
        "CommentLine",
        "KernelDefinitionLine",
        "EnterDeviceContextManagerLine",
        "ExitDeviceContextManagerLine",
        "SymbolicCallArgLine",
        "UnbackedSymbolDefsLine",
        "AssertSizeStrideLine",
        "GroupedAssertSizeStrideLine",
        "AssertAlignmentLine",
        "AssertDivByZeroLine",
        "EnterKernelProfileScopeLine",
        "ExitKernelProfileScopeLine",
    )
    if hasattr(inductor_wrapper, name)
)


class Reading:
    """The program's operations, and what became of them.

    `facts`: operations by name, in their order. `storage`: of buffers that have bytes, the number
    of their storage; `sizes`: of storages, in bytes; `owners`: the buffer that each was made for. `steps`, in
    `partitions`, are in the order of launches. `positions`: of operations in loops, as far as they are known.
    `places`: of storages that Inductor's memory planning has placed, its pool and the offset in bytes.
    """

    def __init__(self, facts, wrappers, is_inline=False):
        """`facts`: inductor_facts.Facts. `wrappers`: each with its lines; those of partitions first, the caller last.
        `is_inline`: V.graph is written in line in theirs.
        """
        operations = facts.operations
        self._owner_of = facts.owner
        self.facts = {operation.name: operation for operation in operations}
        self.inputs = [
            name for name, box in V.graph.graph_inputs.items() if isinstance(box, ir.TensorBox)
        ]
        self.constants = sorted(V.graph.constants)
        self.storage = {}
        self.sizes = []
        self.owners = []
        self.steps = []
        self.positions = {}
        self.places = {}
        self.partitions = []
        self._done = set()
        self._nodes = {id(node) for node in V.graph.scheduler.nodes}
        self._empty = {o.makes[0]: o for o in operations if o.is_empty}
        # Operations that a kernel computes; the others take no launch. The scheduler may have
        # dropped some whose results nobody reads.
        self._kernels = {
            leaf.node.get_operation_name()
            for node in V.graph.scheduler.nodes
            for leaf in node.get_nodes()
            if not isinstance(leaf, scheduler.NopKernelSchedulerNode)
        }
        self._parts = {
            wrapper.subgraph_name.rsplit("_", 1)[-1]: (wrapper, lines)
            for wrapper, lines in wrappers[:-1]
            if not is_inline
        }
        for name in [*self.inputs, *self.constants]:
            self._give(name)
        for wrapper, lines in wrappers if is_inline else wrappers[-1:]:
            self._follow(wrapper, lines, captured=False)
        self._close()
        self._check_that_all_ran()

    def outputs(self):
        known = {*self.inputs, *self.constants}
        for fact in self.facts.values():
            known.update(fact.makes)
        names = [inductor_facts.written(name) for name in V.graph.get_output_names()]
        return [name for name in names if name in known]

    def storage_of(self, name):
        """None where a kernel keeps it inside."""
        return self.storage.get(inductor_facts.whole(name))

    def _check_that_all_ran(self):
        missing = [
            name
            for name, fact in self.facts.items()
            if name in self._kernels and name not in self._done and (fact.makes or fact.mutates)
        ]
        if missing:
            raise RecorderError(f"no launch is known of {', '.join(missing)}")

    def _bytes(self, name):
        buffer = V.graph.try_get_buffer(name)
        if buffer is None:
            return V.graph.constants[name].untyped_storage().nbytes()
        numel = inductor_facts.hint(V.graph.get_allocation_storage_size(buffer))
        return max(numel, 0) * buffer.get_dtype().itemsize

    def _give(self, name):
        if name not in self.storage:
            self.sizes.append(self._bytes(name))
            self.storage[name] = len(self.owners)
            self.owners.append(name)

    def _place(self, name, allocation):
        self._give(name)
        place = allocation.pool, inductor_facts.hint(allocation.offset)
        self.places[self.storage[name]] = place

    # --- partitions ---

    def _open(self, captured, signature=None):
        if self.partitions and not self.partitions[-1].end and not signature:
            return
        self._close()
        self.partitions.append(Partition(len(self.steps), captured, signature))

    def _close(self):
        if self.partitions and not self.partitions[-1].end:
            self.partitions[-1].end = len(self.steps)
            if self.partitions[-1].begin == self.partitions[-1].end:
                self.partitions.pop()

    # --- lines ---

    def _follow(self, wrapper, lines, captured):
        owners = wrapper.__dict__.get("graphgate_owners", {})
        for at, line in enumerate(lines):
            owner, graph = owners.get(at, (None, V.graph))
            if graph is not V.graph:
                continue  # of another graph, in line in one wrapper
            if owner is not None and id(owner) not in self._nodes:
                raise RecorderError("a line is of no node of the graph")
            call = isinstance(line, str) and re.search(r"self\.partitions\[(\d+)\]", line)
            if call:
                part, inner = self._parts[call[1]]
                self._close()
                self._open(True, part.partition_signatures)
                self._follow(part, inner, True)
                self._close()
            elif isinstance(line, inductor_wrapper.AllocateLine):
                self._give(line.node.get_name())
                self._make(line.node.get_name(), captured)
            elif isinstance(line, memory_planning.AllocFromPoolLine):
                self._place(line.node.get_name(), line.group.allocation)
                self._make(line.node.get_name(), captured)
            elif isinstance(line, inductor_wrapper.ReuseLine):
                old, new = line.node.get_name(), line.reused_as.get_name()
                if new in self.storage:
                    raise RecorderError(f"{new} has bytes before it gets those of {old}")
                self._give(old)
                self.storage[new] = self.storage[old]
                self._make(new, captured)
            elif isinstance(line, inductor_wrapper.MultiOutputLine):
                self._give(line.result_name)
            elif owner is not None and not isinstance(line, _QUIET):
                self._launch(line, owner, captured)

    def _launch(self, line, owner, captured):
        is_kernel = isinstance(line, inductor_wrapper.KernelCallLine)
        if is_kernel:
            leaves = self._kernels_until(owner, line.device)
        else:
            leaves = owner.get_nodes() if owner.is_extern() else []
        leaves = {leaf.node.get_operation_name(): leaf for leaf in leaves}
        names = [
            name
            for name in leaves
            if name in self.facts and name in self._kernels and name not in self._done
        ]
        if names:
            self._add_step(names, captured)
            if is_kernel:
                launched = [leaves[name] for name in names]
                self.positions |= inductor_positions.of_launch(launched, self._owner_of)
            for name in names:
                for made in self.facts[name].makes:
                    # A result that nobody takes has bytes all the same, unless a kernel keeps it.
                    if not is_kernel or made not in V.graph.removed_buffers:
                        self._give(made)

    def _kernels_until(self, owner, device):
        """Kernels of several nodes may be launched together, behind the last of them."""
        leaves = []
        for node in V.graph.scheduler.nodes:
            if not node.is_extern() and node.get_device() == device:
                leaves += node.get_nodes()
            if node is owner:
                break
        return leaves

    def _make(self, buffer, captured):
        """A step of its own for bytes that no kernel makes: parts are written into them, or none."""
        operation = self._empty.get(buffer)
        if operation is not None and operation.name not in self._done:
            self._add_step([operation.name], captured)

    def _add_step(self, names, captured):
        self._open(captured)
        self.steps.append(Step(names))
        self._done.update(names)
