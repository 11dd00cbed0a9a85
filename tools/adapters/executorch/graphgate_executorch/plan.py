"""What MemoryPlanningPass decided for a program, as a program and a plan that graphgate verifies.

The program is ExecuTorch's own graph before it is emitted: one opaque node for each op that the
runtime calls, with what it reads, makes and writes in place. The plan has each value at the memory
id, offset and size that its TensorSpec says. Facts come from the graph, claims from the specs, so a
value that lies over another one that is still read is found.

Inputs with a place in the plan are copied to it before the call (`taken`). So is a state that the
program writes, and it is needed to the end (`kept`), where the next call takes it.

A conditional's arms have places of their own, and its results lie where the arm that ran left them
(the emitter moves them by pointer). So there are two plans: of the calls where every condition holds,
and of those where none does. Loops are not shown.
"""

import dataclasses
import operator

import torch
from executorch.exir import memory
from executorch.exir.delegate import executorch_call_delegate
from executorch.exir.operator.convert import is_inplace_variant
from executorch.exir.tensor import TensorSpec
from torch.export.graph_signature import InputKind, OutputKind
from torch.utils import _pytree as pytree

from graphgate_adapter.module import DTYPES, Unsupported

_NAMES = {dtype: name for name, dtype in DTYPES.items()}
# Graph text has not all dtypes. Of others the bytes alone matter here: nobody computes with them.
_OF_SIZE = {1: "u8", 2: "i16", 4: "i32", 8: "i64", 16: "c128"}
_ALIGNMENT = 16
_LOOPS = ("map_impl", "scan", "while_loop")
_KINDS = {
    InputKind.PARAMETER: "parameter", InputKind.BUFFER: "buffer", InputKind.CONSTANT_TENSOR: "constant",
}


@dataclasses.dataclass
class Own:
    """An own plan, as an answer of the protocol has it."""

    program: str
    ops: list
    plan: dict

    def message(self):
        return {"graph": self.program, "ops": self.ops, "plan": self.plan}


@dataclasses.dataclass
class _Fact:
    """A call of the runtime: names of the values that it reads, writes in place and makes."""

    name: str
    reads: list
    writes: list
    makes: list
    is_view: bool = False


@dataclasses.dataclass
class _Input:
    kind: str
    name: str


def read(program):
    """The own plans of an ExecutorchProgramManager. Unsupported where it has what is not shown."""
    exported = program.exported_program()
    arms = (1, 2) if _has_conditional(exported.graph_module) else (1,)
    return [_Reading(exported, arm).own() for arm in arms]


def _has_conditional(module):
    return any(
        node.target is torch.ops.higher_order.cond
        for each in module.modules() if isinstance(each, torch.fx.GraphModule)
        for node in each.graph.nodes
    )


def _has_spec(made):
    return isinstance(made, TensorSpec) or (
        isinstance(made, (list, tuple)) and any(isinstance(each, TensorSpec) for each in made)
    )


def _is_inplace(target):
    if not isinstance(target, torch._ops.OpOverload):
        target = getattr(target, "_op", None)  # of an op of the edge dialect
    return isinstance(target, torch._ops.OpOverload) and is_inplace_variant(
        target._schema.name, target._schema.overload_name
    )


class _Reading:
    def __init__(self, exported, arm):
        self._exported = exported
        self._arm = arm  # the place of the arm that runs among a conditional's arguments
        self._sizes = exported.graph_module.meta["non_const_buffer_sizes"]
        self._inputs = []
        self._outputs = []
        self._facts = []
        self._specs = {}  # of values by name
        self._base = {}  # of a view's name: the value whose memory it sees
        self._fixed = set()  # values that are constants of the program file
        self._caller = set()  # inputs and states as they are before and behind the call, not in the plan
        self._walk_program()

    # --- the graph ---

    def _walk_program(self):
        signature = self._exported.graph_signature
        inputs = {each.arg.name: each for each in signature.input_specs if hasattr(each.arg, "name")}
        written = set(signature.buffers_to_mutate.values())
        names, kept = {}, []
        for node in self._exported.graph.nodes:
            if node.op != "placeholder":
                continue
            spec = node.meta.get("spec")
            if not isinstance(spec, TensorSpec):
                names[node] = None
                continue
            said = inputs.get(node.name)
            self._inputs.append(_Input(_KINDS.get(said and said.kind, "user"), node.name))
            names[node] = self._take(node.name, spec)
            if spec.mem_offset is None:
                if said and said.kind != InputKind.USER_INPUT:
                    self._fixed.add(node.name)
                continue
            # It is a copy: of the caller's tensor, or of what the call before has left.
            self._caller.add(node.name)
            names[node] = self._take(f"{node.name}.taken", spec)
            self._facts.append(_Fact(names[node], [node.name], [], [names[node]]))
            if said and said.target in written:
                kept.append(node.name)
        returned = self._walk(self._exported.graph_module, names, "")
        for name in kept:
            self._facts.append(_Fact(f"{name}.kept", [f"{name}.taken"], [name], []))
        for spec, name in zip(signature.output_specs, returned):
            if isinstance(name, str) and spec.kind != OutputKind.BUFFER_MUTATION:
                self._outputs.append(name)

    def _take(self, name, spec):
        self._specs[name] = spec
        return name

    def _walk(self, module, names, prefix):
        """Notes the calls of a graph. `names`: of what its placeholders are given. What it returns."""
        for node in module.graph.nodes:
            if node.op == "call_function":
                names[node] = self._call(module, node, names, prefix)
            elif node.op == "output":
                return [names.get(each) for each in pytree.tree_flatten(node.args[0])[0]]
        return []

    def _call(self, module, node, names, prefix):
        target = node.target
        if target == memory.alloc:
            return None
        if target == operator.getitem:
            return names[node.args[0]][node.args[1]]
        if target is torch.ops.higher_order.cond:
            return self._choose(module, node, names, prefix)
        if target == executorch_call_delegate or getattr(target, "__name__", "") in _LOOPS:
            raise Unsupported(f"{node.name}: the reader of plans reads no {_word_of(target)}")
        if target == memory.free:
            raise Unsupported(f"{node.name}: a tensor whose size has no bound has no place in the plan")
        given = [
            names[each] for each in pytree.tree_flatten((node.args, node.kwargs))[0]
            if isinstance(each, torch.fx.Node) and isinstance(names.get(each), str)
        ]
        given = list(dict.fromkeys(given))
        name = prefix + node.name
        if target == memory.view:
            self._base[name] = given[0]
            self._facts.append(_Fact(name, given[:1], [], [self._take(name, node.meta["spec"])], True))
            return name
        if _is_inplace(target):
            written = names[node.args[0]]
            self._facts.append(_Fact(name, [each for each in given if each != written], [written], []))
            return written
        made = node.meta.get("spec")
        taken = [
            each for each in pytree.tree_leaves(node.kwargs)
            if isinstance(each, torch.fx.Node) and each.target == memory.alloc
        ]
        if not _has_spec(made) and taken:
            made = taken[0].meta.get("spec")  # of an op that returns nothing: its results are what it was given
        several = isinstance(made, (list, tuple))
        specs = list(made) if several else [made]
        results = [
            self._take(f"{name}.{i}" if several else name, each) if isinstance(each, TensorSpec) else None
            for i, each in enumerate(specs)
        ]
        if given or any(results):
            self._facts.append(_Fact(name, given, [], [each for each in results if each]))
        if len(taken) == 1:
            names[taken[0]] = results if several else results[0]
        return results if several else results[0]

    def _choose(self, module, node, names, prefix):
        condition, operands = node.args[0], node.args[3]
        if isinstance(names.get(condition), str):
            self._facts.append(_Fact(f"{prefix}{node.name}.condition", [names[condition]], [], []))
        arm = getattr(module, node.args[self._arm].target)
        places = [each for each in arm.graph.nodes if each.op == "placeholder"]
        inside = {
            place: names[each] if isinstance(each, torch.fx.Node) else None
            for place, each in zip(places, operands, strict=True)
        }
        return self._walk(arm, inside, f"{prefix}{node.name}.")

    # --- what is told ---

    def _type(self, name):
        spec = self._specs[name]
        dtype = _NAMES.get(spec.dtype) or _OF_SIZE[spec.dtype.itemsize]
        return dtype, [int(each) for each in spec.shape], [int(each) for each in spec.stride]

    def _type_text(self, name):
        dtype, sizes, strides = self._type(name)
        return f"{dtype}[{', '.join(map(str, sizes))}]{{{', '.join(map(str, strides))}}}"

    def _program(self):
        lines = ['program "executorch" {']
        for each in self._inputs:
            kind = "input" if each.kind == "user" else each.kind
            target = "" if each.kind == "user" else f' "{each.name}"'
            lines.append(f"  {kind} %{each.name}{target} : {self._type_text(each.name)}")
        for fact in self._facts:
            made = ", ".join(f"%{each} : {self._type_text(each)}" for each in fact.makes)
            given = ", ".join(f"%{each}" for each in [*fact.writes, *fact.reads])
            lines.append(f"  {made + ' = ' if made else ''}{_op_of(fact)}({given}) as {fact.name}")
        lines += [f"  output %{name}" for name in self._outputs]
        return "\n".join([*lines, "}", ""])

    def _ops(self):
        rows = []
        for fact in self._facts:
            called = _op_of(fact).removesuffix(".default").replace(".", "::")
            if fact.is_view:
                rows.append(f"{called}(Tensor(a) whole) -> Tensor(a)")
                continue
            given = [f"Tensor({chr(97 + i)}!) m{i}" for i in range(len(fact.writes))]
            given += [f"Tensor r{i}" for i in range(len(fact.reads))]
            made = ", ".join(["Tensor"] * len(fact.makes))
            rows.append(f"{called}({', '.join(given)}) -> {made if len(fact.makes) == 1 else f'({made})'}")
        return rows

    def _owner(self, name):
        while name in self._base:
            name = self._base[name]
        return name

    def _buffers(self):
        """(pools, buffers): a buffer for each value that is no view."""
        pools, buffers, loose = {}, [], {}
        for name in self._specs:
            if name in self._base:
                continue
            spec = self._specs[name]
            size = spec.allocated_memory
            if spec.mem_offset is not None and name not in self._caller:
                pool, offset = f"memory{spec.mem_id}", spec.mem_offset
                pools[pool] = {"name": pool, "kind": "arena", "device": "cpu",
                               "size_bytes": self._sizes[spec.mem_id], "alignment_bytes": _ALIGNMENT}
            else:
                pool, kind = self._outside(name)
                offset = loose.get(pool, 0)
                loose[pool] = offset + -(-max(size, 1) // _ALIGNMENT) * _ALIGNMENT
                pools[pool] = {"name": pool, "kind": kind, "device": "cpu", "size_bytes": loose[pool],
                               "alignment_bytes": _ALIGNMENT}
            buffers.append({"name": name, "pool": pool, "offset_bytes": offset, "size_bytes": size})
        return list(pools.values()), buffers

    def _outside(self, name):
        """Name and kind of the pool of a value that has no place in the plan, which has bytes of its own."""
        kind = next((each.kind for each in self._inputs if each.name == name), None)
        if kind is None:
            return "outputs", "arena"
        return ("inputs", "input") if kind == "user" else ("states", "state")

    def _values(self):
        values = []
        for name in self._specs:
            dtype, sizes, strides = self._type(name)
            values.append({"name": name, "type": {"dtype": dtype, "sizes": sizes, "strides": strides},
                           "buffer": self._owner(name)})
        return values

    def _step(self, fact):
        if fact.is_view:
            names = ["whole"]
        else:
            names = [f"m{i}" for i in range(len(fact.writes))] + [f"r{i}" for i in range(len(fact.reads))]
        arguments = [
            {"name": name, "argument": {"value": each}}
            for name, each in zip(names, [*fact.writes, *fact.reads])
        ]
        return {"name": fact.name, "op": _op_of(fact), "arguments": arguments, "results": fact.makes}

    def _partition(self, steps):
        """All steps, in no partition function: what crosses its edges is what they touch."""
        inside = {
            self._owner(each)
            for fact in self._facts if not fact.is_view
            for each in [*fact.reads, *fact.writes, *fact.makes]
        }
        given = [each.name for each in self._inputs if each.name in inside]
        fixed = [each for each in given if each in self._fixed]
        moving = [each for each in given if each not in self._fixed]
        made = {each for fact in self._facts for each in fact.makes if each not in self._base}
        returned = [self._owner(each) for each in self._outputs]
        handed_on = [each for each in dict.fromkeys(returned) if each in made]
        return {
            "captured": False, "begin_step": 0, "end_step": len(steps),
            "reason": "the runtime calls one kernel after the other",
            "inputs": [{"buffer": each} for each in moving],
            "outputs": [*moving, *handed_on], "constants": fixed,
        }

    def own(self):
        steps = [self._step(fact) for fact in self._facts if not fact.is_view]
        pools, buffers = self._buffers()
        outputs = [{"value": name} for name in self._outputs]
        plan = {
            "graphgate_plan": 1,
            "name": "executorch",
            "pools": pools,
            "buffers": buffers,
            "values": self._values(),
            "inputs": [{"kind": each.kind, "target": each.name, "value": each.name} for each in self._inputs],
            "steps": steps,
            "blocks": [{"name": "main", "outputs": outputs,
                        "partitions": [self._partition(steps)] if steps else []}],
            "outputs": outputs,
        }
        return Own(self._program(), self._ops(), plan)


def _word_of(target):
    name = getattr(target, "__name__", str(target))
    return "delegate" if target == executorch_call_delegate else name


def _op_of(fact):
    return f"executorch.{fact.name.replace('.', '_')}.default"
