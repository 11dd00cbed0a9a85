"""Recordings: what PyTorch computes in calls of a program, as graphgate reads it.

NAME.pt2 is a program, NAME.safetensors and NAME.geometry.json are a recording of calls of it
(docs/formats.md, "Recordings").
"""

import contextlib
import io
import json
import math
import os
import tempfile
import zipfile

import safetensors.torch
import torch


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


def bytes_of_storage(tensor):
    """The whole storage of a tensor, as bytes that are seen in place."""
    return torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(tensor.untyped_storage())


def _place_tensors(inputs, key, tensors):
    """Stores the storages of inputs that are parts of one or share one. Where each input lies.

    A place is None where the input is all of a storage of its own: its elements say everything.
    """
    owners = [
        each.untyped_storage()._cdata if isinstance(each, torch.Tensor) else None for each in inputs
    ]
    places = []
    for tensor, owner in zip(inputs, owners):
        if owner is None:
            places.append(_number(tensor))
            continue
        size_bytes = tensor.numel() * tensor.element_size()
        if tensor.untyped_storage().nbytes() == size_bytes and owners.count(owner) == 1:
            places.append(None)
            continue
        storage = owners.index(owner)
        tensors[f"{key}.storage{storage}"] = _contiguous(bytes_of_storage(tensor))
        places.append({
            "strides": list(tensor.stride()),
            "storage_offset": tensor.storage_offset(),
            "storage": storage,
        })
    return places if any(each is not None for each in places) else None


class Recording:
    """Calls of one program, successive: states carry over, inputs are given afresh."""

    def __init__(self, kind):
        self._kind = kind  # "float32" or "recorded"
        self._tensors, self._geometry, self._places = {}, {}, {}

    def __len__(self):
        return len(self._geometry)

    def call(self, run, inputs, buffers=()):
        """Returns run(), and notes what it took, returned and changed.

        `inputs`: tensors and numbers, as the program's user inputs are; constants are left out.
        `buffers`: (name, tensor) of states. What run() returns is a pytree. Where it raises, nothing
        is noted.
        """
        key = f"call{len(self)}"
        tensors = {}
        before = [each.detach().clone() if isinstance(each, torch.Tensor) else each for each in inputs]
        places = _place_tensors(inputs, key, tensors)
        states = [(name, each.detach().clone()) for name, each in buffers]
        result = run()
        outputs = torch.utils._pytree.tree_leaves(result)
        named = []
        for j, given in enumerate(before):
            if not isinstance(given, torch.Tensor):
                continue
            named.append((f"input{j}", inputs[j]))
            tensors[f"{key}.input{j}"] = _contiguous(given)
            if not torch.equal(given, inputs[j]):
                tensors[f"{key}.final_input{j}.{self._kind}"] = _contiguous(inputs[j])
        for (name, given), (_, tensor) in zip(states, buffers):
            named.append((f"buffer.{name}", tensor))
            if not torch.equal(given, tensor):
                tensors[f"{key}.buffer.{name}.{self._kind}"] = _contiguous(tensor)
        geometry = []
        for j, output in enumerate(outputs):
            if not isinstance(output, torch.Tensor):
                geometry.append(_number(output))
                continue
            geometry.append(_geometry(output, named))
            named.append((f"output{j}", output))
            tensors[f"{key}.output{j}.{self._kind}"] = _contiguous(output)
        self._tensors |= tensors
        self._geometry[key], self._places[key] = geometry, places
        return result

    def write(self, base, program=None):
        """Writes BASE.safetensors, BASE.geometry.json and BASE.pt2 where there is a `program`.

        Each file is whole or not there. The archive comes last: whoever finds it finds the rest.
        """
        recorded = {"recorded": self._kind, "calls": self._geometry}
        if any(self._places.values()):
            recorded["inputs"] = self._places
        with contextlib.ExitStack() as stack:
            made = []
            # Private, and under a name that nobody can foresee.
            beside = os.path.dirname(os.path.abspath(base))
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix=".graphgate-", dir=beside))

            def add(suffix, write):
                part = os.path.join(folder, "part" + suffix)
                write(part)
                made.append((part, base + suffix))

            add(".safetensors", lambda path: _save(self._tensors, path))
            add(".geometry.json", lambda path: _write_json(recorded, path))
            if program is not None:
                add(".pt2", lambda path: save_program(program, path))
            for part, path in made:
                os.replace(part, path)


def _number(value):
    """The number as the geometry file has it; None for what is none."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value if isinstance(value, (bool, int, float)) else None


def _write_json(content, path):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
        file.write("\n")


def save_program(program, path):
    """Writes an archive. Files of the machine, which stack traces name, are left out of it."""
    whole = io.BytesIO()
    torch.export.save(program, whole)
    whole.seek(0)
    with zipfile.ZipFile(whole) as archive, zipfile.ZipFile(path, "w") as written:
        for entry in archive.infolist():
            content = archive.read(entry)
            if entry.filename.endswith("models/model.json"):
                graph = json.loads(content)
                _forget_places(graph)
                content = json.dumps(graph, separators=(",", ":")).encode()
            written.writestr(entry, content)


def _forget_places(node):
    if isinstance(node, dict):
        node.pop("stack_trace", None)
        node.pop("guards_code", None)
        node = list(node.values())
    if isinstance(node, list):
        for each in node:
            _forget_places(each)


def kind_of(leaves):
    """What a recording with these tensors calls its elements: "float32" or "recorded"."""
    tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
    floats = {leaf.dtype for leaf in tensors if leaf.is_floating_point() or leaf.is_complex()}
    on_cpu = all(leaf.device.type == "cpu" for leaf in tensors)
    return "float32" if on_cpu and floats <= {torch.float32} else "recorded"
