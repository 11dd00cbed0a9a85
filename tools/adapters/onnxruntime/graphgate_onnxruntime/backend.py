"""The executor: a program as an ONNX model, and memory around it as PyTorch's is."""

import contextlib
import dataclasses
import importlib.metadata

import onnx
import torch

from graphgate_adapter.backend import Backend
from graphgate_adapter.module import Unsupported
from graphgate_adapter.sharing import signature
from graphgate_onnxruntime import exporting

_SWITCH = {"": True, "true": True, "false": False}


@dataclasses.dataclass
class Settings:
    """The flags of `serve`."""

    optimization: str = "all"
    mem_pattern: bool = True
    mem_reuse: bool = True
    io_binding: bool = False
    threads: int = 1
    runner: str = "onnxruntime"


class OnnxRuntime(Backend):
    """A module that PyTorch exports to ONNX. It shows no plan."""

    options = ("no-reuse",)

    def __init__(self, settings):
        self._settings = settings
        exporting.quieten()
        exporting.keep_registry()

    def name(self):
        s = self._settings
        memory = "".join(
            f" {name}" for name, is_on in (
                ("no-pattern", not s.mem_pattern), ("no-reuse", not s.mem_reuse),
                ("io-binding", s.io_binding)) if is_on
        )
        runner = "reference" if s.runner == "reference" else s.optimization
        # Not imported here: it starts a thread, and a process with two is not forked.
        version = importlib.metadata.version("onnxruntime")
        return f"onnxruntime-{version} torch-{torch.__version__}{memory} {runner}"

    def kernels(self, device):
        return "own"

    def arithmetic(self, device):
        # Kernels in float32 stand for those of 16 bits, and casts between them are taken out.
        return "fast"

    def takes(self):
        return exporting.ops()

    def compile(self, module, options):
        reuses = not _SWITCH[options.get("no-reuse", "false")]
        return _Runner(module, self._settings, reuses)

    def warm_up(self, device):
        """Imports what the first export would, and has PyTorch trace one program."""
        with contextlib.suppress(Exception), torch.no_grad():
            exporting.export(_Warming(), (torch.ones(2),))


class _Warming(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x) + 1


@dataclasses.dataclass
class _Shared:
    """That an output lies in the storage of an input, of a state, or of an output before it."""

    of: tuple  # ("input", number), ("state", name) or ("output", number)
    bytes: int  # of the storage
    dtype: torch.dtype
    sizes: tuple
    strides: tuple
    offset: int


class _Runner:
    """Runs a module's calls; a model for each signature of inputs."""

    def __init__(self, module, settings, reuses):
        self._module = module
        self._settings = settings
        self._reuses = reuses
        self._models = {}

    def __call__(self, *inputs):
        states = self._states()
        numbers = tuple(repr(each) for each in inputs if not isinstance(each, torch.Tensor))
        key = signature(inputs, states.values()), numbers
        if key not in self._models:
            self._models[key] = self._make(inputs, states)
        model, session, shared = self._models[key]
        held = {("input", i): each for i, each in enumerate(inputs)}
        held |= {("state", name): tensor for name, tensor in states.items()}
        # What the model reads stays as it is until the model is through: writes come behind it.
        tensors = [held[name].detach().contiguous() for name in model.feeds]
        made = session.run(tensors, model.shapes, model.dtypes)
        for name, number in model.writes:
            held[name].copy_(made[number])
        outputs = []
        for number, result in enumerate(model.results):
            value = result[0] if isinstance(result, tuple) else made[result]
            if number in shared:
                value = _laid_out(value, shared[number], held, outputs)
            elif isinstance(value, torch.Tensor):
                value = value.clone()  # an output that is returned twice is two
            outputs.append(value)
        return tuple(outputs)

    def _states(self):
        return dict((*self._module.named_parameters(), *self._module.named_buffers()))

    def _make(self, inputs, states):
        devices = {t.device.type for t in (*inputs, *states.values()) if isinstance(t, torch.Tensor)}
        if devices - {"cpu"}:
            raise Unsupported("ONNX Runtime runs on the CPU here")
        shared = _sharing(self._module, inputs, states)
        model = exporting.export(self._module, inputs)
        _check_apart(model.writes, inputs, states)
        from graphgate_onnxruntime import running

        onnx.checker.check_model(model.proto, full_check=True)
        session = running.RUNNERS[self._settings.runner](model.proto, self._settings, self._reuses)
        return model, session, shared


def _storage(tensor):
    return tensor.untyped_storage()._cdata


def _check_apart(writes, inputs, states):
    """Writes through one input must not be seen through another: the exporter takes each for its own."""
    held = {("input", i): t for i, t in enumerate(inputs) if isinstance(t, torch.Tensor)}
    held |= {("state", name): tensor for name, tensor in states.items()}
    for name, _ in writes:
        others = (t for other, t in held.items() if other != name and t.numel())
        if any(_storage(t) == _storage(held[name]) for t in others):
            raise Unsupported("a write to memory that two inputs share")


def _sharing(module, inputs, states):
    """What outputs share memory with in eager mode, by their numbers. Nothing of the call stays."""
    storages = {}
    for name, tensor in states.items():
        storages.setdefault(_storage(tensor), ("state", name))
    for i, each in enumerate(inputs):
        if isinstance(each, torch.Tensor):
            storages.setdefault(_storage(each), ("input", i))
    tensors = [*states.values(), *(each for each in inputs if isinstance(each, torch.Tensor))]
    before = {_storage(t): (t.untyped_storage(), t.untyped_storage().clone()) for t in tensors}
    generator = torch.get_rng_state()
    try:
        outputs = module(*inputs)
    finally:
        for storage, kept in before.values():
            storage.copy_(kept)
        torch.set_rng_state(generator)
    counts = {}
    for each in outputs:
        if isinstance(each, torch.Tensor):
            counts[_storage(each)] = counts.get(_storage(each), 0) + 1
    shared = {}
    for number, each in enumerate(outputs):
        if not isinstance(each, torch.Tensor):
            continue
        key = _storage(each)
        if key not in storages and counts[key] == 1:
            continue
        of = storages.setdefault(key, ("output", number))
        shared[number] = _Shared(
            of, each.untyped_storage().nbytes(), each.dtype, tuple(each.shape), each.stride(),
            each.storage_offset(),
        )
    return shared


def _same(a, b):
    # Flat, since bytes of a tensor without dimensions can't be seen alone.
    return a.numel() == 0 or torch.equal(
        a.reshape(-1).view(torch.uint8), b.reshape(-1).view(torch.uint8)
    )


def _laid_out(value, shared, held, outputs):
    """The value in the memory that it shares in eager mode.

    Where it is not what lies there by what else the model has made, it stays apart: one of the two is
    wrong, and neither may hide the other.
    """
    kind, number = shared.of
    if kind != "output":
        storage = held[shared.of].untyped_storage()
    elif number < len(outputs):
        storage = outputs[number].untyped_storage()
    else:
        storage = torch.UntypedStorage(shared.bytes)
        storage.fill_(0)
    others = [
        each for each in (*held.values(), *outputs)
        if isinstance(each, torch.Tensor) and _storage(each) == storage._cdata
    ]
    before, kept = storage.clone(), [each.clone() for each in others]
    place = torch.empty(0, dtype=shared.dtype).set_(
        storage, shared.offset, shared.sizes, shared.strides
    )
    if place.numel():
        # Where one element of memory stands for several, it is written once.
        once = [1 if step == 0 else n for n, step in zip(place.shape, place.stride(), strict=True)]
        torch.as_strided(place, once, place.stride(), place.storage_offset()).copy_(
            value[tuple(slice(0, n) for n in once)]
        )
    if _same(place, value) and all(map(_same, others, kept)):
        return place
    storage.copy_(before)
    return value
