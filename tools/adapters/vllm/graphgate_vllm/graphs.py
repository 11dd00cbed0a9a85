"""CUDA graphs of vLLM's on a machine without a GPU: vLLM's own CUDAGraphWrapper over a recorder.

A captured piece is run again at each replay, over the memory that it was captured with. Its results go
into blocks of a pool, as those of a GPU do. A block whose tensor is gone may be handed to a later
capture, so what is held weakly by mistake is overwritten. A tensor that lies elsewhere than in the
capture is read where it lay, so what is stale shows.
"""

import contextlib
import types

import torch
from torch.multiprocessing.reductions import StorageWeakRef

import vllm.compilation.cuda_graph as cuda_graph
from vllm.compilation.cuda_graph import CUDAGraphWrapper
from vllm.platforms import current_platform

_GRANULE = 512  # bytes, of blocks of a pool


def storage_over(address, count, device):
    """A storage over memory that it does not own: torch.frombuffer would keep its owner alive."""
    return torch._C._construct_storage_from_data_pointer(address, device, count)


def _same_place(tensor, storage):
    """A tensor as this one, over another storage."""
    made = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
    return made.set_(storage, tensor.storage_offset(), tensor.size(), tensor.stride())


def weak_ref_tensor(tensor):
    """The tensor over the same bytes, which it does not keep: what vLLM's C++ does on a GPU. The whole
    storage is taken, so that who shares it can still be told."""
    storage = tensor.untyped_storage()
    return _same_place(tensor, storage_over(storage.data_ptr(), storage.nbytes(), tensor.device))


class Pool:
    """Memory that graphs are captured into. It lives as long as the graphs that it is for."""

    def __init__(self):
        self.outside = set()  # addresses of storages that are there before a call: states, inputs
        self._blocks = []  # [the storage that owns the bytes, the last tensor's storage, weakly]

    def take(self, count):
        """A storage of `count` bytes: of the smallest block that is large enough and whose tensor is
        gone, or of a new one. It does not own them."""
        free = [b for b in self._blocks if b[1].expired() and b[0].nbytes() >= count]
        block = min(free, key=lambda each: each[0].nbytes(), default=None)
        if block is None:
            owner = torch.UntypedStorage(-(-count // _GRANULE) * _GRANULE)
            block = [owner, None]
            self._blocks.append(block)
        storage = storage_over(block[0].data_ptr(), count, block[0].device)
        block[1] = StorageWeakRef(storage)
        return storage

    def owns(self, storage):
        """Whether it lies in a block."""
        return any(
            each.data_ptr() <= storage.data_ptr() < each.data_ptr() + each.nbytes()
            for each, _ in self._blocks
        )


def _tensors(values):
    """Those among results or arguments: a tensor, or a list or tuple with some."""
    if isinstance(values, torch.Tensor):
        return [values]
    if isinstance(values, (list, tuple)):
        return [each for each in values if isinstance(each, torch.Tensor)]
    return []


def _by_storage(tensors):
    """Their storages, each once, by the address of its bytes."""
    storages = (each.untyped_storage() for each in tensors)
    return {each.data_ptr(): each for each in storages if each.nbytes()}


class Graph:
    """What stands for a torch.cuda.CUDAGraph: one run of a piece, and its memory."""

    def __init__(self):
        self._ran = None

    def capture(self, runnable, args, kwargs, pool):
        """Runs the piece, and returns its results where every replay will leave them.

        A GPU would run nothing now: who captures puts back what was written. So the results are zeros.
        """
        known = {*_by_storage(_tensors(args)), *pool.outside}
        # Memory of the pool is not held by those who read it, only by who may still write it.
        held = tuple(
            weak_ref_tensor(each)
            if isinstance(each, torch.Tensor) and each.numel() and pool.owns(each.untyped_storage())
            else each
            for each in args
        )
        results = runnable(*args, **kwargs)
        made = {
            address: (storage, pool.take(storage.nbytes()))
            for address, storage in _by_storage(_tensors(results)).items() if address not in known
        }

        def placed(value):
            if not isinstance(value, torch.Tensor):
                return value
            storage = value.untyped_storage()
            found = made.get(storage.data_ptr()) if storage.nbytes() else None
            return _same_place(value, found[1]) if found else value

        for _, block in made.values():
            block.fill_(0)
        blocks = [
            storage_over(block.data_ptr(), block.nbytes(), block.device) for _, block in made.values()
        ]
        self._ran = runnable, held, kwargs, known, blocks
        if isinstance(results, (list, tuple)):
            return type(results)(placed(each) for each in results)
        return placed(results)

    def replay(self):
        runnable, args, kwargs, known, blocks = self._ran
        results = runnable(*args, **kwargs)
        storages = _by_storage(_tensors(results))
        fresh = [storage for address, storage in storages.items() if address not in known]
        for storage, block in zip(fresh, blocks, strict=True):
            block.copy_(storage)


_capturing = []  # [the graph that is captured, its pool]; emptied when its piece is run
_pools = []  # of the programs that are compiled or run, the innermost last


@contextlib.contextmanager
def _capture(graph, pool=None, stream=None):
    _capturing[:] = [graph, pool]
    try:
        yield
    finally:
        _capturing.clear()


class Wrapper(CUDAGraphWrapper):
    """vLLM's, whose piece is recorded while it is captured."""

    def __init__(self, runnable, **named):
        def watched(*args, **kwargs):
            if not _capturing:
                return runnable(*args, **kwargs)
            graph, pool = _capturing
            _capturing.clear()  # wrappers within this one only run what they wrap
            return graph.capture(runnable, args, kwargs, pool)

        super().__init__(watched, **named)


@contextlib.contextmanager
def pool_of(pool):
    """While it is entered, wrappers that are made take this pool for the platform's."""
    _pools.append(pool)
    try:
        yield
    finally:
        _pools.pop()


class _Torch(types.ModuleType):
    """PyTorch for vLLM's module of graphs: its CUDA graphs are the recorder's."""

    cuda = types.SimpleNamespace(CUDAGraph=Graph, graph=_capture)

    def __getattr__(self, name):
        return getattr(torch, name)


_libraries = []  # which take their ops along when they go


@contextlib.contextmanager
def _same_pool(pool, config):
    yield pool


def know_weak_references():
    """Has the op by which vLLM holds results weakly where its extension is missing, in this process."""
    if _libraries or hasattr(torch.ops._C, "weak_ref_tensor"):
        return
    library = torch.library.Library("_C", "FRAGMENT")
    library.define("weak_ref_tensor(Tensor input) -> Tensor")
    for key in ("CPU", "CUDA"):
        library.impl("weak_ref_tensor", weak_ref_tensor, key)
    _libraries.append(library)


def emulate():
    """Has vLLM capture by the recorder, in this process."""
    cuda_graph.torch = _Torch("torch")
    cuda_graph.current_stream = lambda: None
    cuda_graph.capture_pool = _same_pool
    know_weak_references()
    platform = type(current_platform)
    platform.get_static_graph_wrapper_cls = classmethod(lambda cls: f"{__name__}.Wrapper")
    platform.get_global_graph_pool = lambda self: _pools[-1]
