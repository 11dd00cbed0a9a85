"""Writes a user's model as graphgate reads it: an archive, and what PyTorch computes beside it."""

import contextlib
import copy
import importlib.util
import logging
import os
import sys

import torch
from torch.export import AdditionalInputs
from torch.export._tree_utils import reorder_kwargs
from torch.export.graph_signature import ConstantArgument, InputKind
from torch.utils import _pytree as pytree

from graphgate_adapter import errors, ops
from graphgate_torch import pretrained
from graphgate_torch.recording import Recording, kind_of, save_program


_KEYS = ("module", "calls", "kwargs", "dynamic_shapes")


class Bad(Exception):
    """What was asked for is not there, or not what it should be."""


class Raised(Bad):
    """Code of the user raised the error that this one comes from."""


def _users(text, run):
    """What code of the user returns; where it raises, Raised."""
    try:
        return run()
    except Bad:
        raise
    except Exception as error:
        raise Raised(f"{text}: raises {errors.words_of(error)}") from error


def _run_file(path):
    """The file as a module, as Python runs a script: beside its neighbours, and known by its name.

    Dataclasses, pickle and much else look a module up by the name that its classes state.
    """
    name = os.path.basename(path)[:-3]
    if name in sys.modules or not name.isidentifier():
        name = f"graphgate_model_{len(sys.modules)}"
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _module(place):
    if place.endswith(".py") and not os.path.isfile(place):
        raise Bad(f"{place}: no such file")

    def read():
        try:
            return _run_file(place) if place.endswith(".py") else importlib.import_module(place)
        except ImportError as error:
            raise Bad(f"{place}: cannot be imported: {error}") from error

    return _users(place, read)


def load(text, dynamic=False):
    """What FILE.py:FUNCTION or MODULE:FUNCTION names, called; or a model of transformers on disk."""
    place, _, function = text.rpartition(":")
    if not place and (os.path.isdir(text) or text.count("/") == 1):
        try:
            return pretrained.load(text, dynamic)
        except pretrained.NotThere as error:
            raise Bad(f"{text}: {error}") from error
    if not place:
        raise Bad(f"{text}: expected FILE.py:FUNCTION, MODULE:FUNCTION, or the name or folder of a "
                  "model of transformers on this disk")
    module = _module(place)
    if not hasattr(module, function):
        raise Bad(f"{place}: has no '{function}'")
    made = _users(text, getattr(module, function))
    if not isinstance(made, dict) or not callable(made.get("module")):
        raise Bad(f"{text}: must return a dictionary with 'module', 'calls' and, for symbolic sizes, "
                  "'dynamic_shapes'")
    if unknown := [key for key in made if key not in _KEYS]:
        raise Bad(f"{text}: returns {unknown[0]!r}, expected one of {', '.join(_KEYS)}")
    if not isinstance(made.get("calls"), (list, tuple)) or not made["calls"]:
        raise Bad(f"{text}: 'calls' must list the arguments of at least one call, each a tuple")
    if len(made.get("kwargs") or made["calls"]) != len(made["calls"]):
        raise Bad(f"{text}: 'kwargs' must list a dictionary for each of the {len(made['calls'])} calls")
    return made


def _flat_inputs(program, arguments, named):
    """The tensors and numbers that a program takes, in its order; constants are left out."""
    in_spec = program.call_spec.in_spec
    named = reorder_kwargs(named, in_spec) if named else named
    leaves, _ = pytree.tree_flatten((arguments, named))
    specs = [
        spec.arg for spec in program.graph_signature.input_specs if spec.kind == InputKind.USER_INPUT
    ]
    return [leaf for leaf, spec in zip(leaves, specs) if not isinstance(spec, ConstantArgument)]


def _dynamic_shapes(module, calls):
    """Sizes that differ between calls are symbolic. None where no size differs."""
    sizes = {
        tuple(tuple(leaf.shape) for leaf in pytree.tree_leaves(call) if isinstance(leaf, torch.Tensor))
        for call in calls
    }
    if len(sizes) < 2:
        return None
    more = AdditionalInputs()
    for arguments, named in calls[1:]:
        more.add(arguments, named)
    return more.dynamic_shapes(module, *calls[0])


@contextlib.contextmanager
def _without_word_of_none():
    """AdditionalInputs says None of a size that stays, and PyTorch warns of it: the user has said nothing."""
    log = logging.getLogger("torch.export.dynamic_shapes")

    def is_other(record):
        return "Using None as a dynamic shape" not in record.getMessage()

    log.addFilter(is_other)
    try:
        yield
    finally:
        log.removeFilter(is_other)


def small_sizes(program, calls):
    """In words, each size of 0 or 1 that a call has where the program's symbol begins at 2. `calls`: flat inputs.

    torch.export gives every symbol that range, since it makes programs of their own for 0 and 1.
    """
    names = set(program.graph_signature.user_inputs)
    declared = [
        node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder" and node.name in names
    ]
    found = []
    for i, inputs in enumerate(calls):
        for j, (value, given) in enumerate(zip(declared, inputs)):
            if not (isinstance(value, torch.Tensor) and isinstance(given, torch.Tensor)):
                continue
            for d, (size, given_size) in enumerate(zip(value.shape, given.shape)):
                if isinstance(size, torch.SymInt) and given_size < 2:
                    least = program.range_constraints.get(size.node.expr)
                    if least is not None and least.lower == 2:
                        found.append(f"call {i}: size {d} of input {j} is {given_size}")
    return found


def _as_module(model):
    """A module in evaluation mode. A compiled one holds what it was made of; a function becomes one."""
    model = getattr(model, "_orig_mod", model)
    model = getattr(model, "_torchdynamo_orig_callable", model)
    if isinstance(model, torch.nn.Module):
        return model.eval()
    module = torch.nn.Module()
    module.forward = model
    return module


def export(model, path, decompose=False):
    """Writes `model` (see load) to `path` and the recording beside it. How many calls that has, and small_sizes.

    Its module may be an exported program. `decompose`: NAME.core.pt2, too, of the core set of ops.
    """
    if not path.endswith(".pt2"):
        raise Bad(f"{path}: expected a name that ends in .pt2")
    folder = os.path.dirname(os.path.abspath(path))
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Bad(f"{path}: cannot be written: {folder} is no folder that takes new files")
    program = model["module"] if isinstance(model["module"], torch.export.ExportedProgram) else None
    if program is not None and model.get("dynamic_shapes") is not None:
        raise Bad(f"{path}: 'dynamic_shapes' are for a module: those of an exported program are fixed")
    # The model's packages are imported by now, or may still be.
    ops.register(beside_owners=True)
    # A copy: the module of a program has the program's own states, which are written last.
    module = _as_module(model["module"]) if program is None else copy.deepcopy(program.module())
    # Exported programs do not hold this path of inference, whose results have other strides.
    torch.backends.mha.set_fastpath_enabled(False)
    calls = [call if isinstance(call, tuple) else (call,) for call in model["calls"]]
    calls = list(zip(calls, model.get("kwargs") or [{}] * len(calls)))
    shapes = model.get("dynamic_shapes")
    base = path.removesuffix(".pt2")
    try:
        with torch.no_grad():
            if program is None:
                if shapes is None:
                    shapes = _dynamic_shapes(module, copy.deepcopy(calls))
                # A copy: the calls below change the module's buffers.
                arguments, named = copy.deepcopy(calls[0])
                with _without_word_of_none():
                    program = torch.export.export(
                        copy.deepcopy(module), arguments, named, dynamic_shapes=shapes, strict=False
                    )
            core = program.run_decompositions() if decompose else None
    except Exception as error:
        raise Bad(f"{path}: torch.export refuses it: {errors.words_of(error)}") from error
    leaves = pytree.tree_leaves(calls)
    recording = Recording(kind_of([*leaves, *module.parameters(), *module.buffers()]))
    flat = [_flat_inputs(program, arguments, named) for arguments, named in calls]
    small = small_sizes(program, flat)
    with torch.no_grad():
        for i, (inputs, (arguments, named)) in enumerate(zip(flat, calls)):
            _users(f"{path}: call {i}", lambda: recording.call(
                lambda: module(*arguments, **named), inputs, list(module.named_buffers())))
    recording.write(base, program)
    if core is not None:
        save_program(core, base + ".core.pt2")
    return len(calls), small
