"""From a module to a method of the portable runtime, as users of ExecuTorch get there."""

import dataclasses
import functools
import os
import re
import tempfile
import warnings

import torch
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge
from executorch.exir.memory_planning import MemoryPlanningAlgorithmSuite, greedy, naive
from executorch.exir.operator.convert import to_out_variant
from executorch.exir.passes import MemoryPlanningPass
from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass
from executorch.exir.tracer import _default_decomposition_table
from executorch.extension.pybindings import _C
from torch.export import Dim
from torch.export.graph_signature import OutputKind

from graphgate_adapter import taken
from graphgate_adapter.errors import words_of
from graphgate_adapter.module import Unsupported

# By default a method's inputs have these orders in memory.
_ORDERS = (torch.contiguous_format, torch.channels_last)
_LARGEST_SYMBOL = 4096  # of which memory is planned
# What to_executorch says of what it does not take, beside errors.
_REFUSALS = ("Missing out variants", "Unsupported control flow operator", "is not supported")


def _planning(settings):
    algorithm = {"greedy": greedy, "naive": naive}[settings.planner]
    return MemoryPlanningPass(
        memory_planning_algo=MemoryPlanningAlgorithmSuite([algorithm]),
        alloc_graph_input=settings.plans_inputs, alloc_graph_output=settings.plans_outputs,
    )


def _check_orders(inputs):
    for i, each in enumerate(inputs):
        if not isinstance(each, torch.Tensor):
            continue
        is_image = each.dim() == 4 and each.is_contiguous(memory_format=torch.channels_last)
        if not each.is_contiguous() and not is_image:
            raise Unsupported(f"input {i} is neither contiguous nor channels-last, which the runtime refuses")


def _dims(module, inputs):
    """What torch.export takes as dynamic_shapes: for each input the sizes that are symbols alone."""
    symbols = module.meta.get("graphgate_symbols", {})
    placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
    made, dims = {}, []
    for node, given in zip(placeholders, inputs, strict=True):
        if not isinstance(given, torch.Tensor):
            dims.append(None)
            continue
        dims.append({})
        for place, text in enumerate(node.meta.get("graphgate_sizes", ())):
            low, high = symbols.get(text, (0, 0))
            # torch.export takes a size of 0 or 1 for one that stays.
            if not low < high <= _LARGEST_SYMBOL or given.shape[place] < 2:
                continue
            made.setdefault(text, Dim(text, min=low, max=high))
            dims[-1][place] = made[text]
    return tuple(dims) if made else None


def _export(module, inputs, dims):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # Its graph is `placeholders to outputs`: a tuple for each argument.
        shapes = None if dims is None else {"args": dims}
        if shapes is None:
            return torch.export.export(module, inputs)
        names = [node.target for node in module.graph.nodes if node.op == "placeholder"]
        return torch.export.export(module, inputs, dynamic_shapes=dict(zip(names, dims)))


def lower(module, inputs, settings):
    """The module for inputs like these, lowered and planned. Unsupported where ExecuTorch says so."""
    _check_orders(inputs)
    dims = _dims(module, inputs) if settings.is_dynamic else None
    if dims is not None:
        try:
            return _lower(module, inputs, dims, settings)
        except Unsupported:
            pass  # a size that is no symbol after all
    return _lower(module, inputs, None, settings)


def _lower(module, inputs, dims, settings):
    try:
        exported = _export(module, inputs, dims)
    except Exception as error:
        raise Unsupported(f"torch.export: {words_of(error)}") from error
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            edge = to_edge(exported, compile_config=EdgeCompileConfig(_check_ir_validity=settings.checks_edge))
        except Exception as error:
            raise Unsupported(f"to_edge: {words_of(error)}") from error
        signature = edge.exported_program().graph_signature
        try:
            program = edge.to_executorch(ExecutorchBackendConfig(
                passes=[InitializedMutableBufferPass([""])],  # else states begin as nothing
                memory_planning_pass=_planning(settings),
                emit_mutable_buffer_names=True,  # by which states are read
                run_reinplace_pass=settings.reinplaces,
                remove_view_copy=settings.removes_view_copies,
            ))
        except Exception as error:
            if any(words in str(error) for words in _REFUSALS):
                raise Unsupported(f"to_executorch: {words_of(error)}") from error
            raise
    return Lowered(program, signature, inputs, dims)


@functools.cache
def ops(checks_edge):
    """The names of the ops that become kernels of the runtime, and of those that to_edge decomposes.

    `checks_edge`: whether to_edge refuses what is not of the core set.
    """
    table = _default_decomposition_table()
    kernels = set(_C._get_operator_names())

    def is_taken(op):
        if op in table or taken.is_made_of_others(op):
            return True
        op = _copying(op)
        if checks_edge and not {torch.Tag.core, torch.Tag.view_copy} & set(op.tags):
            return False
        try:
            return to_out_variant(op)[0].name() in kernels
        except RuntimeError:  # it has no out variant
            return op.name() in kernels
        except (AssertionError, AttributeError):  # schemas that it takes for one, as those of pow
            return any(each.partition(".")[0] == op.name().partition(".")[0] for each in kernels)

    names = {taken.name_of(op) for op in taken.overloads() if is_taken(op)}
    return sorted(names.union(taken.known_numbers(), ["higher_order.cond"]))


def _copying(op):
    """What ExecuTorch puts in place of an op that returns a view."""
    base, _, overload = op.name().removeprefix("aten::").partition(".")
    is_view = any(each.alias_info for each in op._schema.returns)
    packet = getattr(torch.ops.aten, f"{base}_copy", None) if is_view else None
    return getattr(packet, overload or "default", op)


@dataclasses.dataclass
class Lowered:
    """What to_executorch made of a module."""

    program: object  # an ExecutorchProgramManager
    signature: object  # of the edge program: to_executorch changes names in it
    inputs: tuple  # that it was lowered for
    dims: tuple | None

    def load(self):
        """The method in the runtime."""
        plan = self.program.executorch_program.execution_plan[0]
        wanted = {f"{op.name}.{op.overload}" if op.overload else op.name for op in plan.operators}
        missing = sorted(wanted - set(_C._get_operator_names()))
        if missing:
            raise Unsupported(f"the runtime has no kernel of {', '.join(missing)}")
        return Method(self)


class Method:
    """A loaded method: its own memory, and its own states."""

    def __init__(self, lowered):
        signature = lowered.signature
        mutations = [
            each for each in signature.output_specs if each.kind == OutputKind.USER_INPUT_MUTATION
        ]
        self.written_inputs = [list(signature.user_inputs).index(each.target) for each in mutations]
        self.states = sorted(set(signature.buffers_to_mutate.values()))  # that it writes
        self._made_for = [_type_of(each) for each in lowered.inputs]
        self._dims = lowered.dims
        self._buffer = lowered.program.buffer  # which the program reads from
        self._program = _C._load_program_from_buffer(self._buffer)
        self._method = self._program.load_method("forward")

    def takes(self, inputs):
        """Whether it was lowered for inputs like these."""
        return len(inputs) == len(self._made_for) and all(
            self._takes(i, made, _type_of(each))
            for i, (made, each) in enumerate(zip(self._made_for, inputs))
        )

    def _takes(self, i, made, given):
        if made == given or self._dims is None or not self._dims[i]:
            return made == given
        dims = self._dims[i]
        if made.kind != given.kind or len(made.sizes) != len(given.sizes) or given.order != made.order:
            return False
        return all(
            dims[place].min <= size <= dims[place].max if place in dims else size == made.sizes[place]
            for place, size in enumerate(given.sizes)
        )

    def set_states(self, states):
        """Has what it writes begin as these: the runtime shows them in place."""
        for name in self.states:
            self._method.get_attribute(name).copy_(states[name])

    def run(self, inputs):
        """(outputs, what inputs are by index, what states are by name) after one call."""
        # What is told apart below is what the runtime writes into tensors of its own.
        given = [each.clone() if isinstance(each, torch.Tensor) else each for each in inputs]
        made = _watched(lambda: self._method(given))
        count = len(self.written_inputs)
        final_states = {name: self._method.get_attribute(name).clone() for name in self.states}
        # ExecuTorch returns what a program writes into an input as further outputs, before the others.
        return made[count:], dict(zip(self.written_inputs, made[:count])), final_states


@dataclasses.dataclass(frozen=True)
class _Type:
    kind: object
    sizes: tuple = ()
    order: object = None


def _type_of(value):
    if not isinstance(value, torch.Tensor):
        return _Type((type(value), value))
    order = next(each for each in _ORDERS if value.is_contiguous(memory_format=each))
    return _Type(value.dtype, tuple(value.shape), order)


_KERNEL = re.compile(r"KernelCall failed at instruction \S+ in operator (\S+):")
_CHECK = re.compile(r"^.*\[(op_\w+\.cpp|\w*_util\.(?:cpp|h)|\w+\.h):\d+\] (.*)$", re.MULTILINE)


def _watched(call):
    """What it returns. An error of the runtime says a number alone; its log says what was wrong."""
    kept = os.dup(2)
    try:
        with tempfile.TemporaryFile() as log:
            os.dup2(log.fileno(), 2)
            try:
                return call()
            except RuntimeError as error:
                log.seek(0)
                raise _explained(error, log.read().decode(errors="replace")) from error
            finally:
                os.dup2(kept, 2)
    finally:
        os.close(kept)


class RuntimeRefusal(RuntimeError):
    """An error of the runtime, with the words of its log."""


def _explained(error, log):
    """A kernel that says that it does not take its operands is no fault of the plan. One that cannot
    make its result as large as it is to be is: the plan says how large."""
    kernel = _KERNEL.search(log)
    checks = [found for found in _CHECK.findall(log) if "cpuinfo" not in found[0]]
    words = " ".join([str(error), *(text for _, text in checks[:2])])
    if kernel and "resize" not in log:
        return Unsupported(f"the kernel of {kernel[1]} refuses: {words}")
    return RuntimeRefusal(words)
