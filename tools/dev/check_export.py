#!/usr/bin/env python3
"""Checks that archives written by graphgate open in PyTorch and compute the same as the originals.

    check_export.py ORIGINAL_DIR WRITTEN_DIR

ORIGINAL_DIR holds NAME.pt2 as exported and NAME.safetensors with inputs (callI.inputJ);
WRITTEN_DIR holds what graphgate wrote for them, under the same names. Both are loaded with
torch.export.load and run as `.module()(*inputs)`, call by call, and every output must have the same
dtype, sizes, strides and bits; so must the inputs afterwards. Programs on a CUDA device are skipped
where there is none, since torch.export.load cannot map devices. Needs PyTorch 2.11 and safetensors; not part of the build.
"""

import pathlib
import sys
import zipfile

import torch
from safetensors.torch import load_file

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "adapters" / "torch"))
import graphgate_torch.ops  # noqa: E402,F401  (registers the custom ops)


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
        raw = value.detach().contiguous().reshape(-1).view(torch.uint8)
        return (value.dtype, tuple(value.shape), value.stride(), bytes(raw.tolist()))
    return value


def flatten(value):
    return torch.utils._pytree.tree_flatten(value)[0]


def run(program, calls):
    """Every result of every call, and what became of the inputs."""
    module = program.module()
    results = []
    for inputs in calls:
        inputs = [tensor.clone() for tensor in inputs]
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
