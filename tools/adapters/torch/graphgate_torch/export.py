"""Writes a user's model as graphgate reads it: an archive, and what PyTorch computes beside it.

NAME.pt2 is the program, NAME.safetensors and NAME.geometry.json are a recording of its calls
(docs/formats.md, "Recordings").
"""

import copy
import importlib.util
import json
import os
import sys

import safetensors.torch
import torch

from graphgate_torch import ops


class Bad(Exception):
    """What was asked for is not there, or not what it should be."""


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
    try:
        return _run_file(place) if place.endswith(".py") else importlib.import_module(place)
    except ImportError as error:
        raise Bad(f"{place}: cannot be imported: {error}") from error


def load(text):
    """What FILE.py:FUNCTION or MODULE:FUNCTION names, called."""
    place, _, function = text.rpartition(":")
    if not place:
        raise Bad(f"{text}: expected FILE.py:FUNCTION or MODULE:FUNCTION")
    module = _module(place)
    if not hasattr(module, function):
        raise Bad(f"{place}: has no '{function}'")
    made = getattr(module, function)()
    if not isinstance(made, dict) or not isinstance(made.get("module"), torch.nn.Module):
        raise Bad(f"{text}: must return a dictionary with 'module', 'calls' and, for symbolic sizes, "
                  "'dynamic_shapes'")
    if not made.get("calls"):
        raise Bad(f"{text}: 'calls' must list the arguments of at least one call, each a tuple")
    return made


def _is_marked(tensor):
    """Whether PyTorch keeps other elements than the tensor has, and a mark beside them."""
    return tensor.is_conj() or tensor.is_neg()


def _geometry(tensor, named):
    # Where a mark makes the elements, they are recorded as a tensor of their own.
    shares = [
        name
        for name, other in named
        if other.untyped_storage()._cdata == tensor.untyped_storage()._cdata
        and not _is_marked(other)
        and not _is_marked(tensor)
    ]
    return {
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "sizes": list(tensor.shape),
        "strides": list(tensor.stride()),
        "storage_offset": tensor.storage_offset(),
        "device": str(tensor.device),
        "shares_storage_with": shares[0] if shares else None,
    }


def _contiguous(tensor):
    return tensor.detach().resolve_conj().resolve_neg().contiguous().clone().cpu()


def _save(tensors, path):
    """Writes safetensors. The format has no complex128: docs/formats.md, "safetensors"."""
    pairs = sorted(name for name, each in tensors.items() if each.dtype == torch.complex128)
    written = {
        name: torch.view_as_real(each) if name in pairs else each for name, each in tensors.items()
    }
    metadata = {"complex128": json.dumps(pairs)} if pairs else None
    safetensors.torch.save_file(written, path, metadata)


def _bytes_of_storage(tensor):
    return torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(tensor.untyped_storage())


def _place_inputs(inputs, key, tensors):
    """Stores the storages of inputs that are parts of one or share one. Where each input lies.

    None where every input is all of a storage of its own: its elements say everything.
    """
    owners = [each.untyped_storage()._cdata for each in inputs]
    places = []
    for tensor, owner in zip(inputs, owners):
        size_bytes = tensor.numel() * tensor.element_size()
        if tensor.untyped_storage().nbytes() == size_bytes and owners.count(owner) == 1:
            places.append(None)
            continue
        storage = owners.index(owner)
        tensors[f"{key}.storage{storage}"] = _contiguous(_bytes_of_storage(tensor))
        places.append({
            "strides": list(tensor.stride()),
            "storage_offset": tensor.storage_offset(),
            "storage": storage,
        })
    return places if any(places) else None


def _record_call(module, arguments, key, kind, tensors):
    """Runs one call and notes it. The geometry of its outputs, and where its inputs lie."""
    inputs = [a for a in torch.utils._pytree.tree_leaves(arguments) if isinstance(a, torch.Tensor)]
    before = [a.detach().clone() for a in inputs]
    places = _place_inputs(inputs, key, tensors)
    buffers = {name: b.detach().clone() for name, b in module.named_buffers()}
    with torch.no_grad():
        outputs = torch.utils._pytree.tree_leaves(module(*arguments))
    for j, tensor in enumerate(before):
        tensors[f"{key}.input{j}"] = _contiguous(tensor)
        if not torch.equal(tensor, inputs[j]):
            tensors[f"{key}.final_input{j}.{kind}"] = _contiguous(inputs[j])
    for name, tensor in module.named_buffers():
        if not torch.equal(buffers[name], tensor):
            tensors[f"{key}.buffer.{name}.{kind}"] = _contiguous(tensor)
    named = [(f"input{j}", each) for j, each in enumerate(inputs)]
    named += [(f"buffer.{name}", each) for name, each in module.named_buffers()]
    geometry = []
    for j, output in enumerate(outputs):
        if not isinstance(output, torch.Tensor):
            geometry.append(None)  # None, or a number: nothing is recorded of it
            continue
        geometry.append(_geometry(output, named))
        named.append((f"output{j}", output))
        tensors[f"{key}.output{j}.{kind}"] = _contiguous(output)
    return geometry, places


def export(model, path):
    """Writes `model` (see load) to `path` and the recording beside it."""
    if not path.endswith(".pt2"):
        raise Bad(f"{path}: expected a name that ends in .pt2")
    # The model's packages are imported by now, or may still be.
    ops.register(beside_owners=True)
    module = model["module"].eval()
    # Exported programs do not hold this path of inference, whose results have other strides.
    torch.backends.mha.set_fastpath_enabled(False)
    calls = [call if isinstance(call, tuple) else (call,) for call in model["calls"]]
    with torch.no_grad():
        # A copy: the calls below change the module's buffers.
        program = torch.export.export(
            copy.deepcopy(module),
            copy.deepcopy(calls[0]),
            dynamic_shapes=model.get("dynamic_shapes"),
            strict=False,
        )
    tensors, geometry, places = {}, {}, {}
    leaves = torch.utils._pytree.tree_leaves(calls)
    on_cpu = all(leaf.device.type == "cpu" for leaf in leaves if isinstance(leaf, torch.Tensor))
    floats = {
        leaf.dtype
        for leaf in [*leaves, *module.parameters(), *module.buffers()]
        if isinstance(leaf, torch.Tensor) and (leaf.is_floating_point() or leaf.is_complex())
    }
    kind = "float32" if on_cpu and floats <= {torch.float32} else "recorded"
    for i, call in enumerate(calls):
        key = f"call{i}"
        geometry[key], places[key] = _record_call(module, call, key, kind, tensors)
    base = path.removesuffix(".pt2")
    # The archive comes last: whoever finds it finds the rest.
    _save(tensors, base + ".safetensors")
    with open(base + ".geometry.json", "w", encoding="utf-8") as file:
        recorded = {"recorded": kind, "calls": geometry}
        if any(places.values()):
            recorded["inputs"] = places
        json.dump(recorded, file, indent=1)
        file.write("\n")
    torch.export.save(program, path)
    return len(calls)
