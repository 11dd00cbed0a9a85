"""Calls of a program that vLLM captures: what its model runner does around its graphs.

Inputs are copied to memory that stays, each signature is warmed up, captured and replayed, and a
replay answers. A capture leaves nothing behind, so states are put back in between.
"""

import torch
from torch.utils import _pytree as pytree

from vllm.compilation.partition_rules import should_split
from vllm.config import CUDAGraphMode, set_current_vllm_config
from vllm.forward_context import BatchDescriptor

from graphgate_adapter.module import Unsupported
from graphgate_adapter.sharing import signature
from graphgate_vllm import graph_ops, graphs

_ASKING = (torch.Tag.data_dependent_output, torch.Tag.dynamic_output_shape)


def _makes_tensors(node):
    """Whether the results of a call have memory of their own, made in each call."""
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        return True
    is_made = any("Tensor" in str(r.type) and r.alias_info is None for r in schema.returns)
    value = node.meta.get("example_value")
    made = [each for each in pytree.tree_leaves(value) if isinstance(each, torch.Tensor)]
    return is_made and bool(node.users) and any(each.numel() != 0 for each in made)


def check(graph, splitting_ops, mode):
    """Raises Unsupported where vLLM's captures are not for such a graph: where the host asks for
    values while it is captured, or an op that is not captured returns new memory in each call (vLLM's
    splitting ops write into an operand: the next piece reads where it read before)."""
    for node in graph.graph.nodes:
        if node.op != "call_function":
            continue
        if isinstance(node.target, torch._ops.HigherOrderOperator):
            if not str(node.target).startswith("auto_functionalized"):
                raise Unsupported(f"no graph is captured over {node.target}")
        if any(tag in _ASKING for tag in getattr(node.target, "tags", ())):
            raise Unsupported(f"{node.target} asks for values while a graph is captured")
        if mode.has_piecewise_cudagraphs() and should_split(node, splitting_ops):
            if _makes_tensors(node):
                raise Unsupported(f"the splitting op {node.target} returns new memory in each call")


class _Bytes:
    """What storages hold, to be put back."""

    def __init__(self, tensors):
        storages = {t.untyped_storage().data_ptr(): t.untyped_storage() for t in tensors}
        self._kept = [(storage, storage.clone()) for storage in storages.values()]

    def restore(self):
        for storage, held in self._kept:
            storage.copy_(held)


class _Static:
    """Memory for the inputs of one signature, laid out and shared as those are."""

    def __init__(self, inputs, states):
        own = {t.untyped_storage().data_ptr() for t in states}
        self._storages = []  # one for each of theirs: None where a state has it
        numbers = {}
        self.inputs = []
        for each in inputs:
            if not isinstance(each, torch.Tensor):
                self.inputs.append(each)
                continue
            storage = each.untyped_storage()
            if storage.data_ptr() in own or not storage.nbytes():
                self.inputs.append(each)
                continue
            if storage.data_ptr() not in numbers:
                numbers[storage.data_ptr()] = len(self._storages)
                self._storages.append(torch.UntypedStorage(storage.nbytes(), device=each.device))
            held = self._storages[numbers[storage.data_ptr()]]
            made = torch.empty(0, dtype=each.dtype, device=each.device)
            self.inputs.append(
                made.set_(held, each.storage_offset(), each.size(), each.stride())
            )

    def fill(self, inputs):
        """Copies the bytes of inputs with the same signature, and returns what the program gets."""
        for place, (each, held) in enumerate(zip(inputs, self.inputs)):
            if isinstance(each, torch.Tensor) and held is not each:
                held.untyped_storage().copy_(each.untyped_storage())
            elif not isinstance(each, torch.Tensor):
                self.inputs[place] = each
        return self.inputs


class Captured:
    """Runs a compiled module as vLLM's model runner does where it captures.

    With FULL_AND_PIECEWISE the calls of a signature are full and piecewise in turn, as those of uniform
    and mixed batches are.
    """

    def __init__(self, backend, compiled, module, config, mode):
        self._backend = backend
        self._module = module
        self._config = config
        self._pool = graphs.Pool()
        self._modes = [
            each for each in (CUDAGraphMode.FULL, CUDAGraphMode.PIECEWISE) if mode.has_mode(each)
        ]
        self._run = compiled
        if mode.has_full_cudagraphs():
            with graphs.pool_of(self._pool), set_current_vllm_config(config):
                self._run = graphs.Wrapper(
                    compiled, vllm_config=config, runtime_mode=CUDAGraphMode.FULL
                )
        self._known = {}  # signature -> [number, _Static, calls]
        self.placed = None  # what the last call used in place of its inputs

    def __call__(self, *inputs):
        self._backend.begin_call()
        states = [*self._module.parameters(), *self._module.buffers()]
        key = signature(inputs, states), tuple(each.data_ptr() for each in states)
        if key not in self._known:
            self._known[key] = [len(self._known) + 1, _Static(inputs, states), 0]
        entry = self._known[key]
        number, static, calls = entry
        entry[2] += 1
        self.placed = placed = static.fill(inputs)
        held = [*(each for each in placed if isinstance(each, torch.Tensor)), *states]
        self._pool.outside = {each.untyped_storage().data_ptr() for each in held}
        mode = self._modes[calls % len(self._modes)]
        with graphs.pool_of(self._pool):
            if calls < len(self._modes):
                before = _Bytes(held)
                for early in (CUDAGraphMode.NONE, mode):  # it warms up, and is captured
                    self._call(placed, early, number)
                    before.restore()
            return self._call(placed, mode, number)

    def _call(self, inputs, mode, number):
        with graph_ops.forward_context(mode, BatchDescriptor(num_tokens=number)):
            return self._run(*inputs)
