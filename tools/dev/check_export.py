#!/usr/bin/env python3
"""Checks that archives written by graphgate open in PyTorch and compute the same as the originals.

    check_export.py ORIGINAL_DIR WRITTEN_DIR

ORIGINAL_DIR holds NAME.pt2 as exported and NAME.safetensors with inputs (callI.inputJ);
WRITTEN_DIR holds what graphgate wrote for them, under the same names. Both are loaded with
torch.export.load and run as `.module()(*inputs)`, call by call, and every output must have the same
dtype, sizes, strides and bits; so must the inputs afterwards. Programs on a CUDA device are skipped
where there is none, since torch.export.load cannot map devices. Needs PyTorch 2.11;
not part of the build. Written archives are made with `graphgate convert NAME.pt2 WRITTEN_DIR/NAME.pt2`.
"""

import json
import pathlib
import struct
import sys
import zipfile

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "adapters" / "common"))
from graphgate_adapter import ops  # noqa: E402


DTYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
          "F8_E4M3": torch.float8_e4m3fn, "F8_E5M2": torch.float8_e5m2, "I64": torch.int64,
          "I32": torch.int32, "I16": torch.int16, "I8": torch.int8, "U8": torch.uint8,
          "BOOL": torch.bool}


def load_file(path):
    """The tensors of a safetensors file."""
    data = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    tensors = {}
    for name, entry in json.loads(data[8:8 + length]).items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        raw = bytearray(data[8 + length + begin:8 + length + end])
        flat = torch.frombuffer(raw, dtype=DTYPES[entry["dtype"]]) if raw else torch.empty(
            0, dtype=DTYPES[entry["dtype"]])
        tensors[name] = flat.reshape(entry["shape"])
    return tensors


def calls_of(path):
    """The inputs of each recorded call, in order."""
    tensors = load_file(path)
    calls = []
    while f"call{len(calls)}.input0" in tensors:
        prefix = f"call{len(calls)}.input"
        count = sum(name.startswith(prefix) for name in tensors)
        calls.append([tensors[f"{prefix}{i}"] for i in range(count)])
    return calls


def bits(value):
    if isinstance(value, torch.Tensor):
        raw = value.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
        return (value.dtype, tuple(value.shape), value.stride(), str(value.device), bytes(raw.tolist()))
    return value


def flatten(value):
    return torch.utils._pytree.tree_flatten(value)[0]


def input_devices(program):
    """The device of each user input."""
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    return [nodes[name].meta["val"].device for name in program.graph_signature.user_inputs]


def run(program, calls):
    """Every result of every call, and what became of the inputs."""
    module = program.module()
    devices = input_devices(program)
    results = []
    for inputs in calls:
        inputs = [tensor.clone().to(device) for tensor, device in zip(inputs, devices)]
        with torch.no_grad():
            outputs = module(*inputs)
        results.append([bits(value) for value in flatten(outputs) + inputs])
    results.append({name: bits(value) for name, value in module.state_dict().items()})
    return results


def wants_cuda(path):
    with zipfile.ZipFile(path) as archive:
        model = next(name for name in archive.namelist() if name.endswith("models/model.json"))
        return b'"type": "cuda"' in archive.read(model)


def check(original, written):
    safetensors = original.parent / (original.name.split(".")[0] + ".safetensors")
    if wants_cuda(original) and not torch.cuda.is_available():
        return "skipped: its weights are on a CUDA device, and PyTorch sees none"
    programs = [torch.export.load(path) for path in (original, written)]
    if str(programs[0].graph) != str(programs[1].graph):
        return "graphs differ"
    calls = calls_of(safetensors)
    if run(programs[0], calls) != run(programs[1], calls):
        return "results differ"
    return "same"


def main():
    ops.register()
    original_dir, written_dir = map(pathlib.Path, sys.argv[1:3])
    outcomes = {}
    for original in sorted(original_dir.glob("*.pt2")):
        try:
            outcome = check(original, written_dir / original.name)
        except Exception as error:  # one bad program must not hide the others
            outcome = f"failed: {type(error).__name__}: {str(error).splitlines()[0][:200]}"
        outcomes[original.name] = outcome
        print(f"{original.name}: {outcome}", flush=True)
    wrong = [name for name, o in outcomes.items() if o != "same" and not o.startswith("skipped")]
    print(f"{len(outcomes)} programs, {len(wrong)} wrong")
    return 1 if wrong or not outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
