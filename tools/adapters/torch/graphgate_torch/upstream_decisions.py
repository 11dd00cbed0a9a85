"""What a version of Inductor itself decides for a graph: partitions, signatures, allocations, reuses.

The version's own scheduler and wrapper code decide. Nothing is compiled and nothing is run: the work
ends where the wrapper's code is written. The nodes of a graph without a GPU count as a GPU's where
the scheduler asks whether they can be captured, and nowhere else. Of a graph on a GPU none of that is
changed (docs/upstream_check.md).
"""

import contextlib

import torch
from torch._inductor import config, ir, lowering, scheduler
from torch._inductor import graph as inductor_graph
from torch._inductor.codegen import cpp
from torch._inductor.codegen import wrapper as inductor_wrapper
from torch._inductor.virtualized import V

from graphgate_torch import inductor_facts


class Decided(Exception):
    """Ends the work: all that is to be known of the graph was noted."""


@contextlib.contextmanager
def _replaced(owner, name, make):
    """`make(original)` in the place of an attribute."""
    original = getattr(owner, name)
    setattr(owner, name, make(original))
    try:
        yield
    finally:
        setattr(owner, name, original)


def _counts_as_gpu(original):
    """should_partition where all nodes lie on the CPU, and count as a GPU's while it asks."""

    def should_partition(this, *arguments, **named):
        if V.graph.device_types - {"cpu"}:
            return original(this, *arguments, **named)
        with _replaced(scheduler.BaseSchedulerNode, "is_gpu", lambda _: lambda node: True):
            return original(this, *arguments, **named)

    return should_partition


def _tensors(result):
    """The tensors among what the lowering of a node makes."""
    if isinstance(result, (list, tuple)):
        for each in result:
            yield from _tensors(each)
    elif isinstance(result, (ir.TensorBox, ir.StorageBox, ir.BaseView)):
        yield result


def _buffer_of(box):
    """The name of the buffer that a tensor of the lowering lies in, or None."""
    while isinstance(box, (ir.MutableBox, ir.BaseView)):
        box = box.data
    return box.get_name() if isinstance(box, ir.Buffer) else None


def _is_tuple(name):
    """Whether it stands for an operation's several results: the tuple, which has no bytes."""
    return isinstance(inductor_facts.layout(name), ir.MultiOutputLayout)


class Deciding:
    """Notes the decisions for one graph while it is entered.

    `is_realized`: each node of the graph becomes kernels of its own: its results are realized, and
    nothing is fused or moved. `split_ops`: names of ops that cut partitions, as Inductor's option has
    them; `opaque`: overloads that cut them, too, and get no lowering of their own, as opaque ops have none.
    """

    def __init__(self, split_ops=(), opaque=(), is_realized=True):
        self._split_ops, self._opaque = list(split_ops), list(opaque)
        self._is_realized = is_realized
        self._undo = contextlib.ExitStack()
        self.decided = None
        self.module = None  # the graph that was lowered
        self._results, self._made_by = {}, {}
        self._partitions, self._calls, self._wrappers = [], [], []

    # --- what is entered ---

    def __enter__(self):
        names = [*self._split_ops, *(str(op).replace(".", "::", 1) for op in self._opaque)]
        self._undo.enter_context(config.patch({
            "triton.cudagraphs": True, "graph_partition": True, "fx_graph_cache": False,
            "custom_should_partition_ops": names, "cpp_wrapper": False, "size_asserts": False,
            "cpp.simdlen": 1,  # nobody looks at what kernels say
        }))
        patches = [
            (scheduler.Scheduler, "should_partition", _counts_as_gpu),
            (scheduler.Scheduler, "graph_partition", self._partitioning),
            (inductor_graph.GraphLowering, "run_node", self._lowering),
            (inductor_graph.GraphLowering, "codegen", self._generating),
            (inductor_wrapper.PythonWrapperCodegen, "run_wrapper_ir_passes", self._planning),
            (inductor_wrapper.PythonWrapperCodegen, "codegen_partition_call", self._calling),
        ]
        # Inputs on a GPU are aligned, or copied to where they are.
        patches.append((inductor_graph, "should_assume_input_aligned",
                        lambda original: lambda each: each.device.type == "cpu" or original(each)))
        if self._is_realized:
            self._undo.enter_context(config.patch({"reorder_for_peak_memory": False}))
            same = lambda _: lambda this, nodes: nodes  # noqa: E731
            patches += [(scheduler.Scheduler, name, same) for name in (
                "fuse_nodes", "maybe_reorder_for_minimizing_partition",
                "reorder_for_partition_with_simple_dependency")]
            # Kernels of the CPU would wait, and be launched and their operands freed together.
            patches.append((cpp.CppScheduling, "ready_to_flush", lambda _: lambda this: True))
            # What reads nothing would be computed again by whoever reads it.
            patches.append((ir.ComputedBuffer, "make_loader", lambda _: ir.Buffer.make_loader))
        for owner, name, make in patches:
            self._undo.enter_context(_replaced(owner, name, make))
        for op in self._opaque:
            opaque = lowering.fallback_handler(op, add_to_fallback_set=False)
            held = lowering.lowerings.get(op)
            lowering.lowerings[op] = opaque
            self._undo.callback(self._put_back, op, held)
        return self

    @staticmethod
    def _put_back(op, held):
        if held is None:
            lowering.lowerings.pop(op, None)
        else:
            lowering.lowerings[op] = held

    def __exit__(self, *_):
        self._undo.close()

    # --- what is watched ---

    def _lowering(self, original):
        def run_node(graph, node):
            is_inner = graph is not V.graph or isinstance(graph, inductor_graph.SubgraphLowering)
            before = len(graph.operations)
            result = original(graph, node)
            if is_inner:
                return result
            if self._is_realized and node.op == "call_function":
                for box in _tensors(result):
                    box.realize()
            self._results[node.name] = list(_tensors(result))
            for operation in graph.operations[before:]:
                self._made_by[operation.get_operation_name()] = node.name
            return result

        return run_node

    def _partitioning(self, original):
        def graph_partition(this):
            partitions, signatures = original(this)
            for nodes, signature in zip(partitions, signatures):
                self._partitions.append((this, nodes, signature))
            return partitions, signatures

        return graph_partition

    def _calling(self, original):
        def codegen_partition_call(this, number, signature, *rest):
            self._calls.append(signature)
            return original(this, number, signature, *rest)

        return codegen_partition_call

    def _planning(self, original):
        def run_wrapper_ir_passes(this, *arguments):
            before = list(this.lines)
            result = original(this, *arguments)
            self._wrappers.append((this, before, list(this.lines)))
            return result

        return run_wrapper_ir_passes

    def _generating(self, original):
        def codegen(graph, *arguments):
            if self.decided is not None or isinstance(graph, inductor_graph.SubgraphLowering):
                return original(graph, *arguments)
            self._facts = inductor_facts.Facts()
            original(graph, *arguments)
            self.decided = self._collect()
            self.module = graph.module
            raise Decided

        return codegen

    # --- what is told ---

    def _storage(self, name):
        """The buffer that owns the bytes that a name stands for."""
        return inductor_facts.whole(self._facts.owner(name))

    def _collect(self):
        values = {}
        for node, boxes in self._results.items():
            names = [_buffer_of(box) for box in boxes]
            names = [name and self._storage(name) for name in names]
            if names:
                values[node] = names
        return {
            "torch": torch.__version__,
            "values": values,
            "partitions": [self._partition(*each) for each in self._partitions],
            "lines": self._lines(),
            "outputs": [self._storage(n) for n in V.graph.get_output_names()
                        if V.graph.try_get_buffer(n) is not None],
        }

    def _partition(self, owner, nodes, signature):
        reasons, names = [], []
        for node in nodes:
            said = owner.should_partition(node)
            if said and str(said) not in reasons:
                reasons.append(str(said))
            for leaf in node.get_nodes():
                if isinstance(leaf, scheduler.NopKernelSchedulerNode):
                    continue
                operation = leaf.node.get_operation_name()
                names.append([operation, self._made_by.get(operation, "")])
        if not signature.skip_cudagraph and self._calls:
            signature = self._calls.pop(0)
        return {
            "captured": not signature.skip_cudagraph,
            "reasons": reasons,
            "operations": names,
            "inputs": [
                [self._storages(name), bool(signature.input_deallocation[name])]
                for name in signature.input_nodes
                if name not in signature.constant_names and not _is_tuple(name)
            ],
            "outputs": [
                self._storages(node.get_name()) for node in signature.output_nodes
                if not _is_tuple(node.get_name())
            ],
            "constants": list(signature.constant_names),
            "symbols": sorted(str(each) for each in signature.symbol_inputs),
        }

    def _storages(self, name):
        return [self._storage(each) for each in inductor_facts.with_bytes(name)]

    def _lines(self):
        """What became of each buffer: [how, buffer, whose bytes]."""
        said = []
        for number, (_, before, after) in enumerate(self._wrappers):
            asked = [each.node.get_name() for each in before
                     if isinstance(each, inductor_wrapper.AllocateLine)]
            in_place = {id(each) for each in before if isinstance(each, inductor_wrapper.ReuseLine)}
            settled = set()  # by the names of the lines
            for line in after:
                if isinstance(line, inductor_wrapper.AllocateLine):
                    said.append(["fresh", self._storage(line.node.get_name()), None])
                    settled.add(line.node.get_name())
                elif isinstance(line, inductor_wrapper.ReuseLine):
                    new = line.reused_as.get_name()
                    how = "in place" if id(line) in in_place else "reuse"
                    said.append([how, self._storage(new), self._storage(line.node.get_name())])
                    settled.add(new)
            said += [["dropped", self._storage(name), None] for name in asked
                     if name not in settled and name not in V.graph.removed_buffers]
        return said
