"""Messages of graphgate's protocol for executors (docs/executors.md): JSON, and bytes beside it."""

import json
import math
import os
import shutil

import safetensors.torch
import torch

_DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn,
        torch.float8_e5m2, torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8,
        torch.bool, torch.complex64, torch.complex128,
    )
}
_FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


class Received:
    """A request, with the storages that came with it. Tensors of one storage share memory."""

    def __init__(self, line, exchange):
        self.json = json.loads(line)
        self._contents = []
        self._storages = {}
        folder = self.json.pop("folder", None)
        names = self.json.pop("storages", [])
        if folder is None:
            return
        path = os.path.join(exchange, folder)
        read = safetensors.torch.load_file(os.path.join(path, "tensors.safetensors"))
        self._contents = [read[name].reshape(-1).view(torch.uint8).clone() for name in names]
        shutil.rmtree(path)

    def tensor(self, said, devices, place=None):
        """`place`: the device that the program states, which says more than where bytes come from."""
        device = devices.here(place or said["device"])
        key = (said["storage"], device)
        if key not in self._storages:
            self._storages[key] = self._contents[said["storage"]].to(device).untyped_storage()
        return torch.empty(0, dtype=_DTYPES[said["dtype"]], device=device).set_(
            self._storages[key], said.get("storage_offset", 0), said["sizes"], said["strides"]
        )

    def value(self, said, devices, place=None):
        if said is None:
            return None
        if "tensor" in said:
            return self.tensor(said["tensor"], devices, place)
        ((kind, value),) = said.items()
        return _FLOATS.get(value, float(value)) if kind == "float" else value


class Sent:
    """Tensors of an answer. Those that share memory are told so."""

    def __init__(self):
        self._storages = []
        self._numbers = {}

    def tensor(self, tensor, devices):
        # What PyTorch only marks as conjugated or negated lies elsewhere as it is.
        tensor = tensor.resolve_conj().resolve_neg()
        storage = tensor.untyped_storage()
        # A storage is what owns its bytes; empty ones are each their own.
        key = (storage.device, storage.data_ptr() or storage._cdata)
        if key not in self._numbers:
            self._numbers[key] = len(self._storages)
            self._storages.append(storage)
        said = {
            "storage": self._numbers[key],
            "dtype": str(tensor.dtype).removeprefix("torch."),
            "sizes": list(tensor.shape),
            "strides": list(tensor.stride()),
            "device": devices.named(tensor.device),
        }
        if tensor.storage_offset():
            said["storage_offset"] = tensor.storage_offset()
        return said

    def value(self, value, devices):
        if value is None:
            return None
        if isinstance(value, torch.Tensor):
            return {"tensor": self.tensor(value, devices)}
        if isinstance(value, bool):
            return {"bool": value}
        if isinstance(value, int):
            return {"int": value}
        if math.isnan(value):
            return {"float": "NaN"}
        if math.isinf(value):
            return {"float": "Infinity" if value > 0 else "-Infinity"}
        return {"float": value}

    def line(self, answer, exchange, name):
        """The answer as a line, its bytes in a folder of this name."""
        if self._storages:
            path = os.path.join(exchange, name)
            os.mkdir(path)
            contents = {}
            for i, storage in enumerate(self._storages):
                flat = torch.empty(0, dtype=torch.uint8, device=storage.device)
                contents[f"content{i}"] = flat.set_(storage).cpu()
            safetensors.torch.save_file(contents, os.path.join(path, "tensors.safetensors"))
            answer = answer | {"folder": name, "storages": sorted(contents, key=lambda n: int(n[7:]))}
        return json.dumps(answer)
