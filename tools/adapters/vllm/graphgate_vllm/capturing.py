"""Calls of a program that vLLM captures: what its model runner does around its graphs.

Inputs are copied to memory that stays, each signature is warmed up, captured and replayed, and a
replay answers. A capture leaves nothing behind, so states are put back in between.
"""

import contextlib
import dataclasses
import os
import traceback

import torch
from torch.utils import _pytree as pytree

import vllm
from vllm.compilation.counter import compilation_counter
from vllm.compilation.partition_rules import should_split
from vllm.config import CUDAGraphMode, set_current_vllm_config
from vllm.forward_context import BatchDescriptor

from graphgate_adapter import accelerator
from graphgate_adapter.errors import words_of
from graphgate_adapter.module import Unsupported
from graphgate_adapter.sharing import signature
from graphgate_vllm import graph_ops, graphs
from graphgate_vllm.memory import Bytes, Static

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


def _is_off_gpu(node):
    value = node.meta.get("example_value")
    leaves = pytree.tree_leaves(value)
    return any(isinstance(each, torch.Tensor) and each.device.type == "cpu" for each in leaves)


def check(graph, splitting_ops, mode, is_on_gpu):
    """Raises Unsupported where vLLM's captures are not for such a graph. The host may ask for values
    while it is captured, or a tensor may be the host's beside a GPU. Or an op that is not captured
    returns new memory in each call: vLLM's splitting ops write into an operand, and the next piece reads
    where it read before."""
    for node in graph.graph.nodes:
        if is_on_gpu and _is_off_gpu(node):
            raise Unsupported(f"{node.name} is a tensor of the host's, and no CUDA graph has it")
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


# What the allocator of pinned memory says behind a copy to the host that was not captured.
_HOST_ALLOCATOR = "CachingHostAllocator"


_VLLM = os.path.join(os.path.dirname(vllm.__file__), "")


def _is_of_capture(error):
    """Whether CUDA or PyTorch says that something is not captured, in this error or one that it came
    out of. What vLLM says of its captures is of vLLM."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        frames = traceback.extract_tb(error.__traceback__)
        is_of_vllm = bool(frames) and frames[-1].filename.startswith(_VLLM)
        words = str(error)
        if not is_of_vllm and ("captur" in words or _HOST_ALLOCATOR in words):
            return True
        error = error.__cause__ or error.__context__
    return False


class _Stream:
    """The stream of a GPU that graphs are captured and replayed on: CUDA captures none on the default
    one. On a CPU there is none."""

    def __init__(self, is_on_gpu):
        self._stream = torch.cuda.Stream() if is_on_gpu else None

    @contextlib.contextmanager
    def entered(self):
        """While it is entered, work goes to it: behind what was there, and before what comes next."""
        if self._stream is None:
            yield
            return
        outer = torch.cuda.current_stream()
        self._stream.wait_stream(outer)
        with torch.cuda.stream(self._stream):
            yield
        outer.wait_stream(self._stream)


@dataclasses.dataclass
class _Entry:
    """One signature of inputs: what vLLM would know as one batch."""

    number: int
    static: Static
    calls: int = 0
    places: object = None  # of the results, as _Places


class _Places:
    """Where the results of a program lie in their storages: vLLM's compiled weak references have
    storages of their own, which begin where the result begins."""

    def __init__(self, results):
        self._places = [
            (each.storage_offset() * each.element_size(), each.untyped_storage().nbytes())
            if isinstance(each, torch.Tensor) else None
            for each in pytree.tree_leaves(results)
        ]

    def restore(self, results, held):
        """The results, those whose storage begins with them as parts of storages again: of what is
        held (states, inputs), or as in the run that this was made of. Tensors that share memory share one."""
        leaves, structure = pytree.tree_flatten(results)
        storages = {each.untyped_storage().data_ptr(): each.untyped_storage() for each in held}
        placed = [
            self._part(each, place, storages) for each, place in zip(leaves, self._places, strict=True)
        ]
        return pytree.tree_unflatten(placed, structure)

    @staticmethod
    def _part(result, place, storages):
        if not isinstance(result, torch.Tensor) or result.numel() == 0 or result.storage_offset():
            return result
        address = result.data_ptr()
        offset, count = place
        for start, storage in storages.items():
            if start <= address < start + storage.nbytes():
                break
        else:
            start = address - offset
            storage = storages[start] = graphs.storage_over(start, count, result.device)
        made = torch.empty(0, dtype=result.dtype, device=result.device)
        distance = (address - start) // result.element_size()
        return made.set_(storage, distance, result.size(), result.stride())


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
        self._stream = _Stream(backend.is_on_gpu)
        self._modes = [
            each for each in (CUDAGraphMode.FULL, CUDAGraphMode.PIECEWISE) if mode.has_mode(each)
        ]
        self._run = compiled
        if mode.has_full_cudagraphs():
            with graphs.pool_of(self._pool), set_current_vllm_config(config):
                self._run = graphs.Wrapper(
                    compiled, vllm_config=config, runtime_mode=CUDAGraphMode.FULL
                )
        self._known = {}  # signature -> _Entry
        self.placed = None  # what the last call used in place of its inputs

    def __call__(self, *inputs):
        with self._stream.entered():
            return self._answer(inputs)

    def _answer(self, inputs):
        self._backend.begin_call()
        states = [*self._module.parameters(), *self._module.buffers()]
        key = signature(inputs, states), tuple(each.data_ptr() for each in states)
        if key not in self._known:
            self._known[key] = _Entry(len(self._known) + 1, Static(inputs, states))
        entry = self._known[key]
        self.placed = placed = entry.static.fill(inputs)
        held = [*(each for each in placed if isinstance(each, torch.Tensor)), *states]
        self._pool.outside = {each.untyped_storage().data_ptr() for each in held}
        mode = self._modes[entry.calls % len(self._modes)]
        is_first = entry.calls < len(self._modes)
        entry.calls += 1
        before = Bytes(held)
        with graphs.pool_of(self._pool):
            if is_first:  # it warms up
                entry.places = _Places(self._call(placed, CUDAGraphMode.NONE, entry.number))
                before.restore()
            results, has_captured = self._capture_or_replay(placed, mode, entry.number)
            if has_captured:
                # Nothing was computed. It may be no first call: what Dynamo compiled for other sizes
                # may run these from now on, and has captured nothing yet.
                before.restore()
                results = self._call(placed, mode, entry.number)
        return entry.places.restore(results, held) if self._backend.is_on_gpu else results

    def _capture_or_replay(self, inputs, mode, number):
        """Returns the results, and whether graphs were captured. Raises Unsupported for what CUDA does
        not capture, and has this process end then: its allocator goes on recording."""
        before = compilation_counter.num_cudagraph_captured

        def has_captured():
            return compilation_counter.num_cudagraph_captured != before

        try:
            results = self._call(inputs, mode, number)
            if has_captured():
                accelerator.wait()
            return results, has_captured()
        except RuntimeError as error:
            if not self._backend.is_on_gpu:
                raise
            accelerator.give_up()
            if _is_of_capture(error):
                raise Unsupported(f"no graph is captured: {words_of(error)}") from error
            if has_captured() and "device-side assert" in str(error):
                raise Unsupported(
                    "an op between the graphs refuses what a capture leaves uncomputed") from error
            raise

    def _call(self, inputs, mode, number):
        with graph_ops.forward_context(mode, BatchDescriptor(num_tokens=number)):
            return self._run(*inputs)
