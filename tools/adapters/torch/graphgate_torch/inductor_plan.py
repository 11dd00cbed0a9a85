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
import re

import torch
from torch._inductor import dependencies, graph as inductor_graph, ir
from torch._inductor.codegen import wrapper as inductor_wrapper
from torch._inductor.virtualized import V

from graphgate_torch.module import DTYPES, Unsupported

_NAMES = {dtype: name for name, dtype in DTYPES.items()}
_ALIGNMENT = 64


@dataclasses.dataclass
class Operation:
    """One node of the program. Buffers by the names of what owns their bytes."""

    name: str
    reads: list
    makes: list  # new buffers
    mutates: list
    is_elementwise: bool  # every element is read where it is written
    part_of: str = ""  # of a view: whose bytes `makes` lies in


@dataclasses.dataclass
class _Step:
    operations: list
    allocated: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class _Partition:
    begin: int
    captured: bool
    signature: object = None
    end: int = 0


def _layout(name):
    return getattr(V.graph.try_get_buffer(name), "layout", None)


def _written(name):
    """The buffer that a write to `name` goes to."""
    layout = _layout(name)
    if isinstance(layout, ir.MutationLayoutSHOULDREMOVE):
        return _written(layout.get_buffer().get_name())
    return name


def _whole(name):
    """The buffer whose bytes `name` lies in: a part of a concatenation has none of its own."""
    layout = _layout(name)
    if isinstance(layout, ir.NonOwningLayout):
        return _whole(layout.view.get_name())
    return _written(name)


def _index_of(dep):
    return getattr(dep, "index", None) if isinstance(dep, dependencies.MemoryDep) else None


class _Facts:
    """The operations of the graph that is compiled, in the order in which they were lowered."""

    def __init__(self):
        self.operations = []
        self._stands_for = {}  # outputs that are another buffer, once it was written
        self._maker = {}
        self._made = {*V.graph.graph_inputs, *V.graph.constants}
        for op in V.graph.operations:
            if isinstance(op, ir.MultiOutput):
                self._add_part(op)
            else:
                self._add(op)

    def _name(self, name):
        return self._stands_for.get(name, name)

    def _add_part(self, op):
        parent = self._maker.get(op.inputs[0].get_name())
        if parent is None or op.get_inputs_that_alias_output():
            raise Unsupported("an operation returns a view of its operand")
        parent.makes.append(op.get_name())
        self._maker[op.get_name()] = parent
        self._made.add(op.get_name())

    def _add(self, op):
        fact = Operation(op.get_operation_name(), [], [], [], True)
        for buffer in op.get_outputs():
            self._add_output(fact, buffer)
        if isinstance(op, ir.NopKernel):
            # Bytes that nobody has written, or others already in parts.
            if all(name in self._made for name in fact.makes):
                return
            fact.is_elementwise = False
        else:
            self._add_reads(fact, op.get_read_writes())
        fact.mutates = list(dict.fromkeys(fact.mutates))
        fact.reads = [name for name in dict.fromkeys(fact.reads) if name not in fact.mutates]
        self._made.update(fact.makes)
        self.operations.append(fact)

    def _add_output(self, fact, buffer):
        name = buffer.get_name()
        layout = _layout(name)
        self._maker[name] = fact
        mutated = [self._name(_written(each)) for each in buffer.get_mutation_names()]
        if isinstance(layout, ir.NonOwningLayout):
            self._make_view(name)
            mutated.append(name)
        if not mutated and buffer.get_inputs_that_alias_output():
            raise Unsupported("an operation returns a view of its operand")
        for each in mutated:
            if each != name:
                self._stands_for[name] = each
            fact.mutates.append(each)
        has_bytes = not isinstance(layout, (ir.NoneLayout, ir.MultiOutputLayout))
        if not mutated and has_bytes:
            fact.makes.append(name)

    def _make_view(self, name):
        """A part of a buffer that is there before its first part is written."""
        whole = _whole(name)
        if whole not in self._made:
            self.operations.append(Operation("new_" + whole, [], [whole], [], False))
            self._made.add(whole)
        view = Operation("part_" + name, [], [name], [], False, part_of=whole)
        self.operations.append(view)
        self._made.add(name)

    def _add_reads(self, fact, deps):
        writes = {_index_of(dep) for dep in deps.writes}
        for dep in deps.reads:
            if isinstance(dep, dependencies.WeakDep):
                continue
            fact.reads.append(self._name(_written(self._name(dep.name))))
            fact.is_elementwise &= writes == {_index_of(dep)} and None not in writes


class Recorder:
    """While it is entered, notes of every graph that Inductor compiles a program and a plan."""

    def __init__(self):
        self.graphs = []  # of Recorded
        self.reasons = []  # why others have none
        self._wrappers = []
        self._undo = contextlib.ExitStack()

    def __enter__(self):
        self._patch(inductor_graph.GraphLowering, "codegen", self._codegen)
        self._patch(inductor_wrapper.PythonWrapperCodegen, "writeline", self._writeline)
        self._patch(
            inductor_wrapper.PythonWrapperCodegen, "run_wrapper_ir_passes", self._planned
        )
        return self

    def __exit__(self, *_):
        self._undo.close()

    def _patch(self, owner, name, replacement):
        original = getattr(owner, name)

        def patched(this, *arguments, **named):
            return replacement(original, this, *arguments, **named)

        setattr(owner, name, patched)
        self._undo.callback(setattr, owner, name, original)

    def _writeline(self, original, wrapper, line):
        scheduler = getattr(V.graph, "scheduler", None)
        owners = wrapper.__dict__.setdefault("graphgate_owners", {})
        owners[len(wrapper.lines)] = getattr(scheduler, "current_node", None)
        return original(wrapper, line)

    def _planned(self, original, wrapper, is_inference):
        if is_inference and torch._inductor.config.memory_planning:
            self._wrappers.append((wrapper, Unsupported("pools of Inductor's memory planning")))
            return original(wrapper, is_inference)
        result = original(wrapper, is_inference)
        self._wrappers.append((wrapper, list(wrapper.lines)))
        return result

    def _codegen(self, original, graph):
        try:
            facts = _Facts().operations
        except Unsupported as error:
            facts = error
        self._wrappers = []
        result = original(graph)
        try:
            if isinstance(facts, Unsupported):
                raise facts
            self.graphs.append(_Reading(facts, self._wrappers).record())
        except Unsupported as error:
            self.reasons.append(str(error))
        self._wrappers = []
        return result


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


class _Reading:
    """Follows the lines of the wrappers."""

    def __init__(self, facts, wrappers):
        self._facts = {fact.name: fact for fact in facts}
        self._order = [fact.name for fact in facts]
        self._wrappers = wrappers
        self._storage = {}  # of buffers: the storage that the plan gives them
        self._sizes = []
        self._steps = []
        self._partitions = []
        self._done = set()

    # --- what is where ---

    def _bytes(self, name):
        buffer = V.graph.try_get_buffer(name)
        if buffer is None:
            tensor = V.graph.constants[name]
            return tensor.untyped_storage().nbytes()
        numel = V.graph.sizevars.size_hint(V.graph.get_allocation_storage_size(buffer), fallback=8)
        return max(int(numel), 0) * buffer.get_dtype().itemsize

    def _give(self, name):
        if name not in self._storage:
            self._storage[name] = len(self._sizes)
            self._sizes.append(self._bytes(name))

    def _type(self, name):
        offset = 0
        buffer = V.graph.try_get_buffer(name)
        if buffer is None:
            tensor = V.graph.constants[name]
            sizes, strides = list(tensor.shape), list(tensor.stride())
            dtype, device = tensor.dtype, tensor.device
        else:
            hints = V.graph.sizevars.size_hints
            sizes = list(hints(buffer.get_size(), fallback=8))
            strides = list(hints(buffer.get_stride(), fallback=8))
            dtype, device = buffer.get_dtype(), buffer.get_device()
            layout = _layout(name)
            if isinstance(layout, ir.NonOwningLayout):
                offset = int(V.graph.sizevars.size_hint(layout.view.get_layout().offset, fallback=0))
        if dtype not in _NAMES:
            raise Unsupported(f"graph text has no {dtype}")
        ints = [int(s) for s in sizes], [int(s) for s in strides]
        return _NAMES[dtype], *ints, offset, device.type

    # --- lines ---

    def record(self):
        for lines in (lines for _, lines in self._wrappers):
            if isinstance(lines, Unsupported):
                raise lines
        main, lines = self._wrappers[-1]
        self._inputs = [
            name for name, box in V.graph.graph_inputs.items() if isinstance(box, ir.TensorBox)
        ]
        self._constants = sorted(V.graph.constants)
        for name in [*self._inputs, *self._constants]:
            self._give(name)
        # Operations that a kernel computes; the others take no launch.
        self._kernels = {
            leaf.node.get_operation_name()
            for node in V.graph.scheduler.nodes
            for leaf in node.get_nodes()
            if not isinstance(leaf.node, ir.NopKernel)
        }
        self._parts = {
            wrapper.subgraph_name.rsplit("_", 1)[-1]: (wrapper, lines)
            for wrapper, lines in self._wrappers[:-1]
        }
        self._follow(main, lines, captured=False)
        self._close()
        return Recorded(self._program(), self._ops(), self._plan())

    def _open(self, captured, signature=None):
        if self._partitions and not self._partitions[-1].end and not signature:
            return
        self._close()
        self._partitions.append(_Partition(len(self._steps), captured, signature))

    def _close(self):
        if self._partitions and not self._partitions[-1].end:
            self._partitions[-1].end = len(self._steps)
            if self._partitions[-1].begin == self._partitions[-1].end:
                self._partitions.pop()

    def _follow(self, wrapper, lines, captured, signature=None):
        owners = wrapper.__dict__.get("graphgate_owners", {})
        for at, line in enumerate(lines):
            if isinstance(line, str):
                call = re.search(r"self\.partitions\[(\d+)\]", line)
                if call:
                    part, inner = self._parts[call[1]]
                    self._close()
                    self._open(True, part.partition_signatures)
                    self._follow(part, inner, True, part.partition_signatures)
                    self._close()
                    continue
            if isinstance(line, inductor_wrapper.AllocateLine):
                self._give(line.node.get_name())
                self._make(line.node.get_name(), captured)
            elif isinstance(line, inductor_wrapper.ReuseLine):
                old = line.node.get_name()
                self._give(old)
                self._storage[line.reused_as.get_name()] = self._storage[old]
            elif isinstance(line, inductor_wrapper.MultiOutputLine):
                self._give(line.result_name)
            elif owners.get(at) is not None and not isinstance(line, _QUIET):
                self._launch(line, owners[at], captured)

    def _launch(self, line, owner, captured):
        is_kernel = isinstance(line, inductor_wrapper.KernelCallLine)
        leaves = []
        if is_kernel:
            # Kernels of several nodes may be launched together, behind the last of them.
            for node in V.graph.scheduler.nodes:
                if not node.is_extern() and node.get_device() == line.device:
                    leaves += [leaf.node.get_operation_name() for leaf in node.get_nodes()]
                if node is owner:
                    break
        elif owner.is_extern():
            leaves = [leaf.node.get_operation_name() for leaf in owner.get_nodes()]
        names = [name for name in leaves if name in self._facts and name not in self._done]
        if not names:
            return
        self._open(captured)
        self._steps.append(_Step(names))
        self._done.update(names)
        for name in names:
            for made in self._facts[name].makes:
                # A result that nobody takes has bytes all the same, unless a kernel keeps it inside.
                if not is_kernel or made not in V.graph.removed_buffers:
                    self._give(made)

    def _make(self, buffer, captured):
        """A step of its own for a buffer that no kernel makes: parts are written into it, or none."""
        for fact in self._facts.values():
            is_new = fact.makes == [buffer] and not fact.reads and not fact.mutates
            is_op = fact.name in self._kernels
            if is_new and not is_op and not fact.part_of and fact.name not in self._done:
                self._open(captured)
                self._done.add(fact.name)
                self._steps.append(_Step([fact.name]))

    # --- what is written ---

    def _program(self):
        lines = ['program "inductor" {']
        for kind, names in (("constant", self._constants), ("input", self._inputs)):
            for name in names:
                target = f' "{name}"' if kind == "constant" else ""
                lines.append(f"  {kind} %{name}{target} : {self._type_text(name)}")
        for name in self._order:
            fact = self._facts[name]
            made = ", ".join(f"%{each} : {self._type_text(each)}" for each in fact.makes)
            operands = [fact.part_of] if fact.part_of else [*fact.mutates, *fact.reads]
            given = ", ".join(f"%{each}" for each in operands)
            results = f"{made} = " if made else ""
            lines.append(f"  {results}inductor.{name}.default({given}) as {name}")
        lines += [f"  output %{name}" for name in self._outputs()]
        return "\n".join([*lines, "}", ""])

    def _outputs(self):
        known = {*self._inputs, *self._constants}
        for fact in self._facts.values():
            known.update(fact.makes)
        names = [_written(name) for name in V.graph.get_output_names()]
        return [name for name in names if name in known]

    def _type_text(self, name):
        dtype, sizes, strides, offset, device = self._type(name)
        text = f"{dtype}[{', '.join(map(str, sizes))}]{{{', '.join(map(str, strides))}}}@{offset}"
        return text if device == "cpu" else f"{text} on {device}"

    def _ops(self):
        lines = []
        for name in self._order:
            fact = self._facts[name]
            if fact.part_of:
                lines.append(f"inductor::{name}(Tensor(a) whole) -> Tensor(a)")
                continue
            written = [f"Tensor({chr(97 + i)}!) m{i}" for i in range(len(fact.mutates))]
            read = [f"Tensor r{i}" for i in range(len(fact.reads))]
            results = ", ".join(["Tensor"] * len(fact.makes))
            made = results if len(fact.makes) == 1 else f"({results})"
            tags = " ; tags=pointwise" if fact.is_elementwise and fact.reads else ""
            lines.append(f"inductor::{name}({', '.join(written + read)}) -> {made}{tags}")
        return "\n".join([*lines, ""])

    def _node(self, name):
        fact = self._facts[name]
        arguments = [
            {"name": f"m{i}", "argument": {"value": each}} for i, each in enumerate(fact.mutates)
        ] + [{"name": f"r{i}", "argument": {"value": each}} for i, each in enumerate(fact.reads)]
        return {
            "name": name,
            "op": f"inductor.{name}.default",
            "arguments": arguments,
            "results": list(fact.makes),
        }

    def _step_json(self, step):
        nodes = [self._node(name) for name in step.operations]
        if len(nodes) == 1:
            return nodes[0]
        made = [each for name in step.operations for each in self._facts[name].makes]
        inner = {each for each in made if _whole(each) not in self._storage}
        read = dict.fromkeys(
            each
            for name in step.operations
            for each in [*self._facts[name].mutates, *self._facts[name].reads]
            if each not in made
        )
        return {
            "name": step.operations[-1],
            "op": "graphgate.fused",
            "arguments": [{"argument": {"value": each}} for each in read],
            "results": [each for each in made if each not in inner],
            "body": nodes,
        }

    def _buffer(self, storage):
        return f"storage{storage}"

    def _partition_json(self, partition):
        said = {
            "captured": partition.captured,
            "begin_step": partition.begin,
            "end_step": partition.end,
            "reason": "" if partition.captured else "Inductor does not capture it",
        }
        signature = partition.signature
        if signature is None:
            said |= self._unclaimed(partition)
        else:
            # A partition that drops an argument of the graph drops a reference: its caller keeps it.
            kept = {self._storage[name] for name in [*self._inputs, *self._constants]}
            given = {}
            for name in signature.input_nodes:
                if _whole(name) in self._storage and name not in signature.constant_names:
                    storage = self._storage[_whole(name)]
                    drops = bool(signature.input_deallocation[name]) and storage not in kept
                    given[storage] = given.get(storage, True) and drops
            handed_on = [self._storage.get(_whole(n.get_name())) for n in signature.output_nodes]
            handed_on += [each for each in given if each in kept]
            said["inputs"] = [
                {"buffer": self._buffer(each), "deallocate": drops}
                for each, drops in given.items()
            ]
            said["outputs"] = [
                self._buffer(each) for each in dict.fromkeys(handed_on) if each is not None
            ]
            said["constants"] = [
                self._buffer(self._storage[name]) for name in signature.constant_names
            ]
        return said

    def _touched(self, steps):
        names = [
            name
            for step in steps
            for each in step.operations
            for name in self._names_of(each)
        ]
        wholes = [_whole(name) for name in names]
        return dict.fromkeys(self._storage[each] for each in wholes if each in self._storage)

    def _names_of(self, operation):
        fact = self._facts[operation]
        return [*fact.mutates, *fact.reads, *fact.makes]

    def _unclaimed(self, partition):
        """The edges of code that is in no partition function, and so claims nothing of them."""
        constants = [self._storage[name] for name in self._constants]
        inputs = [self._storage[name] for name in self._inputs]
        written = self._written()
        returned = [self._storage[_whole(name)] for name in self._outputs()]
        inside = self._touched(self._steps[partition.begin : partition.end])
        before = {*inputs, *constants, *self._touched(self._steps[: partition.begin])}
        later = {*returned, *self._touched(self._steps[partition.end :])}
        fixed = [each for each in inside if each in constants and each not in written]
        moving = [each for each in inside if each not in fixed]
        given = [each for each in moving if each in before]
        kept = {*later, *inputs, *constants}
        handed_on = [each for each in moving if each in later or (each in given and each in kept)]
        return {
            "inputs": [
                {"buffer": self._buffer(each), "deallocate": each not in kept} for each in given
            ],
            "outputs": [self._buffer(each) for each in handed_on],
            "constants": [self._buffer(each) for each in fixed],
        }

    def _written(self):
        return {
            self._storage[_whole(name)]
            for fact in self._facts.values()
            for name in fact.mutates
            if _whole(name) in self._storage
        }

    def _plan(self):
        inputs = {self._storage[name] for name in self._inputs}
        constants = {self._storage[name] for name in self._constants}
        pools = {}
        for storage, size in enumerate(self._sizes):
            kind = "state" if storage in constants else "input" if storage in inputs else "arena"
            pools.setdefault((kind, self._device(storage)), []).append((storage, size))
        buffers, said_pools = [], []
        for (kind, device), members in pools.items():
            offset = 0
            for storage, size in members:
                buffers.append({"name": self._buffer(storage), "pool": f"{kind}_{device}",
                                "offset_bytes": offset, "size_bytes": size})
                offset += -(-max(size, 1) // _ALIGNMENT) * _ALIGNMENT
            said_pools.append({"name": f"{kind}_{device}", "kind": kind, "device": device,
                               "size_bytes": offset, "alignment_bytes": _ALIGNMENT})
        outputs = [{"value": name} for name in self._outputs()]
        return {
            "graphgate_plan": 1,
            "name": "inductor",
            "arithmetic": "fast",
            "pools": said_pools,
            "buffers": buffers,
            "values": self._values(),
            "inputs": [{"kind": "constant", "target": n, "value": n} for n in self._constants]
            + [{"kind": "user", "target": n, "value": n} for n in self._inputs],
            "steps": [self._step_json(step) for step in self._steps],
            "blocks": [
                {"name": "main", "partitions": [self._partition_json(p) for p in self._partitions],
                 "outputs": outputs}
            ],
            "outputs": outputs,
        }

    def _values(self):
        names = [*self._constants, *self._inputs]
        names += [each for fact in self._facts.values() for each in fact.makes]
        values = []
        for name in names:
            dtype, sizes, strides, offset, device = self._type(name)
            value = {"name": name, "type": {"dtype": dtype, "sizes": sizes, "strides": strides,
                                            "storage_offset": offset, "device": device}}
            whole = _whole(name)
            if whole in self._storage:
                value["buffer"] = self._buffer(self._storage[whole])
            elif not self._is_inner(name):
                continue
            values.append(value)
        return values

    def _device(self, storage):
        return next(self._type(n)[4] for n, each in self._storage.items() if each == storage)

    def _is_inner(self, name):
        return any(name in self._facts[o].makes for step in self._steps for o in step.operations)


# Lines that launch nothing.
_QUIET = (
    inductor_wrapper.MemoryPlanningLine,
    inductor_wrapper.FreeLine,
    inductor_wrapper.CommentLine,
    inductor_wrapper.KernelDefinitionLine,
    inductor_wrapper.EnterDeviceContextManagerLine,
    inductor_wrapper.ExitDeviceContextManagerLine,
    inductor_wrapper.SymbolicCallArgLine,
    inductor_wrapper.UnbackedSymbolDefsLine,
)
