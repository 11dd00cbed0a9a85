#!/usr/bin/env python3
"""Measures what `graphgate check` takes: seconds and peak memory, one program after the other.

    check_costs.py build/release/graphgate --models golden/models --largest 10
    check_costs.py build/release/graphgate --elements 100000000 --folder /tmp/large

The second writes programs over tensors of so many float32 elements, with a recording of PyTorch's
results (it needs torch), and checks the executor `optimized` and the recording. Peaks are those of
the process that checks, as the system counts them (ru_maxrss); sizes of models are those of archive
and recording.
"""

import argparse
import ctypes
import json
import pathlib
import struct
import subprocess
import sys


# A small process starts the command: a peak begins with that of the process that starts it.
MEASURED = """
import json, os, sys, time
begin = time.monotonic()
child = os.fork()
if child == 0:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.execvp(sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(child, 0)
seconds = time.monotonic() - begin
code = os.waitstatus_to_exitcode(status)
print(json.dumps([code, seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024]))
"""


def run(command):
    """Runs a command; returns (exit code, seconds, processor seconds, peak in MiB)."""
    measured = [sys.executable, "-c", MEASURED, *command]
    return json.loads(subprocess.run(measured, stdout=subprocess.PIPE, check=True).stdout)


def report(name, elements, command):
    code, seconds, processor, peak = run(command)
    print(f"| {name} | {elements} | {seconds:.1f} | {processor:.1f} | {peak:.0f} | {code} |", flush=True)


def size_of(model):
    stem = model.name.removesuffix(".pt2").removesuffix(".core")
    recording = model.parent / f"{stem}.safetensors"
    return model.stat().st_size + (recording.stat().st_size if recording.exists() else 0)


def check_models(graphgate, folder, largest):
    models = sorted(pathlib.Path(folder).glob("*.pt2"), key=size_of, reverse=True)
    print("| model | MiB | seconds | of the processor | peak, MiB | exit code |")
    print("| --- | --- | --- | --- | --- | --- |")
    for model in models[:largest]:
        report(model.name, f"{size_of(model) / 2**20:.1f}", [graphgate, "check", str(model)])


def write_safetensors(path, tensors):
    """Writes torch tensors, each from its own memory."""
    names = {"torch.float32": "F32", "torch.int64": "I64"}
    header, offset = {}, 0
    for name, tensor in tensors.items():
        size = tensor.numel() * tensor.element_size()
        header[name] = {
            "dtype": names[str(tensor.dtype)],
            "shape": list(tensor.shape),
            "data_offsets": [offset, offset + size],
        }
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)))
        file.write(text)
        for tensor in tensors.values():
            tensor = tensor.contiguous()
            size = tensor.numel() * tensor.element_size()
            file.write((ctypes.c_char * size).from_address(tensor.data_ptr()))


def write_recording(data, given, result):
    """Writes one call: NAME.safetensors and NAME.geometry.json."""
    tensors = {f"call0.input{i}": tensor for i, tensor in enumerate(given)}
    tensors["call0.output0.recorded"] = result
    write_safetensors(data, tensors)
    geometry = {
        "dtype": "float32",
        "sizes": list(result.shape),
        "strides": list(result.stride()),
        "storage_offset": 0,
        "device": "cpu",
        "shares_storage_with": None,
    }
    text = json.dumps({"recorded": "recorded", "calls": {"call0": [geometry]}})
    data.with_suffix(".geometry.json").write_text(text)


def large_programs(elements):
    """Returns name -> (text, inputs, function): inputs and function are PyTorch's."""
    import torch

    rows = elements // 1000
    x = lambda: torch.randn(rows, 1000)
    functional = torch.nn.functional
    return {
        "relu + 1": (
            f"""input %x : f32[{rows}, 1000]
  %a : f32[{rows}, 1000] = aten.relu.default(%x)
  %b : f32[{rows}, 1000] = aten.add.Tensor(%a, 1.0)
  output %b""",
            lambda: [x()],
            lambda x: x.relu().add_(1.0),
        ),
        "sum of rows": (
            f"""input %x : f32[{rows}, 1000]
  %a : f32[{rows}] = aten.sum.dim_IntList(%x, [1])
  output %a""",
            lambda: [x()],
            lambda x: x.sum(1),
        ),
        "softmax": (
            f"""input %x : f32[{rows}, 1000]
  %a : f32[{rows}, 1000] = aten._softmax.default(%x, -1, False)
  output %a""",
            lambda: [x()],
            lambda x: torch.softmax(x, -1),
        ),
        "layer norm": (
            f"""input %x : f32[{rows}, 1000]
  %a : f32[{rows}, 1000] = aten.layer_norm.default(%x, [1000])
  output %a""",
            lambda: [x()],
            lambda x: functional.layer_norm(x, [1000]),
        ),
        "cumulative sum of rows": (
            f"""input %x : f32[{rows}, 1000]
  %a : f32[{rows}, 1000] = aten.cumsum.default(%x, 1)
  output %a""",
            lambda: [x()],
            lambda x: x.cumsum(1),
        ),
        "sum of columns": (
            f"""input %x : f32[{rows}, 1000]
  %a : f32[1000] = aten.sum.dim_IntList(%x, [0])
  output %a""",
            lambda: [x()],
            lambda x: x.sum(0),
        ),
        "copy of the transposed": (
            f"""input %x : f32[{rows}, 1000]
  %a : f32[1000, {rows}] = aten.transpose.int(%x, 0, 1)
  %b : f32[1000, {rows}] = aten.clone.default(%a, memory_format=contiguous_format)
  output %b""",
            lambda: [x()],
            lambda x: x.t().contiguous(),
        ),
        "view, then tanh": (
            f"""input %x : f32[{rows}, 1000]
  %a : f32[{rows * 10}, 100] = aten.view.default(%x, [{rows * 10}, 100])
  %b : f32[{rows * 10}, 100] = aten.tanh.default(%a)
  output %b""",
            lambda: [x()],
            lambda x: x.view(-1, 100).tanh(),
        ),
        "embedding": (
            f"""input %table : f32[1000, 100]
  input %i : i64[{elements // 100}]
  %a : f32[{elements // 100}, 100] = aten.embedding.default(%table, %i)
  output %a""",
            lambda: [torch.randn(1000, 100), torch.randint(0, 1000, (elements // 100,))],
            lambda table, i: functional.embedding(i, table),
        ),
        "product, inner size 4": (
            f"""input %x : f32[{elements // 4}, 4]
  input %w : f32[4, 4]
  %a : f32[{elements // 4}, 4] = aten.mm.default(%x, %w)
  output %a""",
            lambda: [torch.randn(elements // 4, 4), torch.randn(4, 4)],
            lambda x, w: x @ w,
        ),
    }


def check_large(graphgate, elements, folder, only):
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    print("| program | elements | seconds | of the processor | peak, MiB | exit code |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, (body, inputs, function) in large_programs(elements).items():
        if only and name != only:
            continue
        torch.manual_seed(1)
        text, data = folder / "program.txt", folder / "program.safetensors"
        text.write_text(f'program "large" {{\n  {body}\n}}\n')
        given = inputs()
        write_recording(data, given, function(*given))
        del given
        command = [graphgate, "check", str(text), "--executor", "optimized", "--data", str(data)]
        report(name, elements, command)
        data.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("graphgate")
    parser.add_argument("--models", help="a folder of .pt2 archives")
    parser.add_argument("--largest", type=int, default=10, help="so many of them")
    parser.add_argument("--elements", type=int, help="of the largest tensor of each made program")
    parser.add_argument("--folder", type=pathlib.Path, help="where made programs are written")
    parser.add_argument("--only", help="the made program of this name")
    given = parser.parse_args()
    if given.models:
        check_models(given.graphgate, given.models, given.largest)
    if given.elements:
        if not given.folder:
            sys.exit("--elements goes with --folder")
        check_large(given.graphgate, given.elements, given.folder, given.only)


if __name__ == "__main__":
    main()
