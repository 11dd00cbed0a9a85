#!/usr/bin/env python3
"""Records calls of single ATen ops while PyTorch runs the samples of its own operator database.

    record_op_cases.py --out FILE.jsonl [--ops aten.erfinv,aten.glu.default] [--dtypes float32,int64]
                       [--per-op 30] [--most-bytes N] [--seed 0] [--reference]
                       [--calls FILE.py | --whole FILE.txt]

Writes FILE.jsonl and FILE.safetensors beside it (docs/formats.md, "Recorded op calls"), sorted by op. Each
OpInfo of torch.testing runs on the CPU under a dispatch mode, which sees the ATen calls that are
left when composite ops are taken apart; those of --ops are kept, or all. A name without an
overload stands for each of its overloads. Equal calls (op, dtypes, sizes, strides, other
arguments) are kept once; of the rest at most --per-op for each op and dtype of its first tensor,
spread evenly over the samples. A tensor that PyTorch marks as conjugated or negated is written with
its true elements, in a storage of its own. With --calls, calls() of that file gives functions to run
instead of the samples. With --reference OpInfo's reference inputs run, too: more sizes, strides and
extreme numbers.

With --whole the calls are those of a file instead, and ops that PyTorch defines by others are
recorded whole; all of them are kept. Each line is Python: `A.cov(R(3, 4), correction=0)` calls aten.cov.default, and
`A.quantile.scalar(R(5), 0.5)` an overload. R is torch.randn, T torch.tensor. Empty lines and lines
that begin with # are passed over.

Needs PyTorch with its test modules (`pip install torch numpy safetensors expecttest`); nothing
else of this project. Prints what it could not record: samples that PyTorch itself refuses, and
calls whose arguments the form has no place for (sparse and quantized tensors, generators).
"""

import argparse
import collections
import importlib.util
import json
import math
import os
import sys
import warnings

import torch
from safetensors.torch import save_file
from torch.utils._python_dispatch import TorchDispatchMode

NAMES = {
    torch.float64: "float64",
    torch.float32: "float32",
    torch.float16: "float16",
    torch.bfloat16: "bfloat16",
    torch.float8_e4m3fn: "float8_e4m3fn",
    torch.float8_e5m2: "float8_e5m2",
    torch.int64: "int64",
    torch.int32: "int32",
    torch.int16: "int16",
    torch.int8: "int8",
    torch.uint8: "uint8",
    torch.bool: "bool",
    torch.complex64: "complex64",
    torch.complex128: "complex128",
}


class NoPlace(Exception):
    """The form cannot say this argument."""


def bytes_of(tensor):
    """The whole storage of a tensor, as a one-dimensional copy of the tensor's dtype."""
    storage = tensor.untyped_storage()
    flat = torch.empty(0, dtype=tensor.dtype)
    count = storage.nbytes() // tensor.element_size()
    flat.set_(storage, 0, (count,), (1,))
    if tensor.is_conj():
        flat = flat.conj_physical()
    return flat.neg() if tensor.is_neg() else flat.clone()


def storable(tensor):
    """As safetensors writes it: complex128 has no name there and goes as pairs of float64."""
    if tensor.dtype != torch.complex128:
        return tensor
    return torch.view_as_real(tensor).flatten().contiguous()


class Form:
    """Arguments or results of one call as JSON, with the storages that they name."""

    def __init__(self):
        self.storages = {}  # a storage, and what its elements are marked as -> number
        self.data = {}  # number -> contents

    def tensor(self, tensor):
        if tensor.layout != torch.strided or tensor.is_quantized or tensor.dtype not in NAMES:
            raise NoPlace(f"a tensor of {tensor.dtype}, {tensor.layout}")
        if tensor.device.type != "cpu":
            raise NoPlace(f"a tensor on {tensor.device.type}")
        key = (tensor.untyped_storage()._cdata, tensor.is_conj(), tensor.is_neg())
        number = self.storages.setdefault(key, len(self.storages))
        if number not in self.data:
            self.data[number] = bytes_of(tensor)
        return {
            "tensor": {
                "storage": number,
                "dtype": NAMES[tensor.dtype],
                "sizes": list(tensor.shape),
                "strides": list(tensor.stride()),
                "storage_offset": tensor.storage_offset(),
            }
        }

    def value(self, value):
        if isinstance(value, torch.Tensor):
            return self.tensor(value)
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"float": str(value)}
        if isinstance(value, complex):
            return {"complex": [self.value(value.real), self.value(value.imag)]}
        if isinstance(value, torch.dtype):
            if value not in NAMES:
                raise NoPlace(str(value))
            return {"dtype": NAMES[value]}
        if isinstance(value, torch.device):
            return {"device": str(value)}
        if isinstance(value, torch.layout):
            return {"layout": str(value).removeprefix("torch.")}
        if isinstance(value, torch.memory_format):
            return {"memory_format": str(value).removeprefix("torch.")}
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in value]
        raise NoPlace(type(value).__name__)


class Recorder(TorchDispatchMode):
    def __init__(self, wanted, most_bytes, keeps_equal=False):
        super().__init__()
        self.wanted = wanted
        self.most_bytes = most_bytes
        self.keeps_equal = keeps_equal  # calls that differ in their data alone
        self.calls = collections.defaultdict(list)  # (op, first dtype) -> calls
        self.seen = set()
        self.left_out = collections.Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = str(func)
        if not name.startswith("aten.") or not (
            not self.wanted or name in self.wanted or name.rpartition(".")[0] in self.wanted
        ):
            return func(*args, **kwargs)
        return self.record(func, args, kwargs)

    def record(self, func, args, kwargs):
        """Calls the op, keeps the call if it is a new one, and returns the result."""
        name = str(func)
        form = Form()
        try:
            call = {
                "op": name,
                "args": [form.value(arg) for arg in args],
                "kwargs": {key: form.value(arg) for key, arg in kwargs.items() if arg is not None},
            }
        except NoPlace as reason:
            self.left_out[f"{name}: {reason}"] += 1
            return func(*args, **kwargs)
        key = json.dumps(call, sort_keys=True)
        result = func(*args, **kwargs)
        if key in self.seen and not self.keeps_equal:
            return result
        self.seen.add(key)
        results = Form()
        try:
            call["result"] = results.value(result)
        except NoPlace as reason:
            self.left_out[f"{name}: {reason}"] += 1
            return result
        call["mutated"] = {}
        changed = {}
        for position, argument in enumerate(func._schema.arguments):
            is_written = argument.alias_info is not None and argument.alias_info.is_write
            value = kwargs.get(argument.name) if argument.kwarg_only else None
            if not argument.kwarg_only and position < len(args):
                value = args[position]
            if is_written and isinstance(value, torch.Tensor):
                after = Form().tensor(value)
                after["tensor"]["storage"] = argument.name
                call["mutated"][argument.name] = after
                changed[argument.name] = bytes_of(value)
        kept = [*form.data.values(), *results.data.values(), *changed.values()]
        if sum(data.nbytes for data in kept) > self.most_bytes:
            self.left_out[f"{name}: more than {self.most_bytes} bytes"] += 1
            return result
        first = next((arg for arg in args if isinstance(arg, torch.Tensor)), None)
        dtype = NAMES.get(first.dtype) if first is not None else None
        self.calls[(name, dtype)].append((call, form.data, results.data, changed))
        return result


class Caller:
    """A.cov(...), A.quantile.scalar(...): calls of ATen ops that are recorded."""

    def __init__(self, recorder, target):
        self._recorder = recorder
        self._target = target

    def __getattr__(self, name):
        return Caller(self._recorder, getattr(self._target, name))

    def __call__(self, *args, **kwargs):
        is_overload = hasattr(self._target, "_schema")
        op = self._target if is_overload else self._target.default
        return self._recorder.record(op, args, kwargs)


def run_whole_calls(recorder, path, seed):
    torch.manual_seed(seed)
    words = {"A": Caller(recorder, torch.ops.aten), "R": torch.randn, "T": torch.tensor}
    refused = 0
    with open(path, encoding="utf-8") as file:
        for line in file:
            if not line.strip() or line.startswith("#"):
                continue
            try:
                exec(line, {**words, "torch": torch})  # noqa: S102: the file is a script
            except Exception as error:  # noqa: BLE001: what PyTorch refuses is no call
                refused += 1
                print(f"{line.strip()[:60]}: {str(error).splitlines()[0]}", file=sys.stderr)
    return refused


def spread(items, most):
    """At most `most` of the items, evenly spread."""
    if len(items) <= most:
        return items
    return [items[i * len(items) // most] for i in range(most)]


def run_samples(recorder, dtypes, seed, only, with_reference):
    from torch.testing._internal.common_methods_invocations import op_db

    refused = 0
    for info in op_db:
        if only and info.name not in only and (info.aten_name or "") not in only:
            continue
        for dtype in dtypes:
            if not info.supports_dtype(dtype, "cpu"):
                continue
            torch.manual_seed(seed)
            try:
                samples = list(info.sample_inputs("cpu", dtype, requires_grad=False))
                if with_reference:
                    samples += info.reference_inputs("cpu", dtype, requires_grad=False)
            except Exception:  # noqa: BLE001: whatever a sample's maker throws, there is no sample
                refused += 1
                continue
            for sample in samples:
                for function in (info.op, info.inplace_variant):
                    if function is None:
                        continue
                    try:
                        operand = sample.input
                        if function is not info.op and isinstance(operand, torch.Tensor):
                            operand = operand.clone()
                        with recorder:
                            function(operand, *sample.args, **sample.kwargs)
                    except Exception:  # noqa: BLE001: what PyTorch refuses is no call
                        refused += 1
    return refused


def run_calls(recorder, path):
    spec = importlib.util.spec_from_file_location("calls", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    refused = 0
    for call in module.calls():
        try:
            with recorder:
                call()
        except Exception:  # noqa: BLE001: what PyTorch refuses is no call
            refused += 1
    return refused


def write_calls(calls, out, per_op):
    """Writes the .jsonl and the .safetensors; returns how many calls they have."""
    lines, tensors = [], {}
    for key in sorted(calls, key=str):
        for call, before, after, changed in spread(calls[key], per_op):
            number = len(lines)
            lines.append(json.dumps({"case": number, **call}))
            tensors.update({f"{number}.in{s}": storable(data) for s, data in before.items()})
            tensors.update({f"{number}.out{s}": storable(data) for s, data in after.items()})
            tensors.update({f"{number}.mut.{name}": storable(data) for name, data in changed.items()})
    save_file(tensors, out.removesuffix(".jsonl") + ".safetensors.new")
    with open(out + ".new", "w", encoding="utf-8") as file:
        file.write("".join(line + "\n" for line in lines))
    os.replace(
        out.removesuffix(".jsonl") + ".safetensors.new",
        out.removesuffix(".jsonl") + ".safetensors",
    )
    os.replace(out + ".new", out)
    return len(lines)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", required=True)
    parser.add_argument("--whole", help="a file with a call a line, instead of samples")
    parser.add_argument("--ops", default="", help="names with commas between them")
    parser.add_argument("--infos", default="", help="OpInfos to run: all without; saves time")
    parser.add_argument(
        "--dtypes", default="float32,float64,bfloat16,float16,int64,int32,uint8,bool"
    )
    parser.add_argument("--per-op", type=int, default=30)
    parser.add_argument("--most-bytes", type=int, default=1 << 30, help="of a call's tensors")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reference", action="store_true", help="run reference inputs, too")
    parser.add_argument("--calls", help="a file of calls that are run instead of samples")
    options = parser.parse_args()
    if not options.out.endswith(".jsonl"):
        parser.error(f"--out {options.out}: expected a name that ends with .jsonl")
    by_name = {name: dtype for dtype, name in NAMES.items()}
    unknown = [name for name in options.dtypes.split(",") if name not in by_name]
    if unknown:
        parser.error(f"--dtypes: '{unknown[0]}' is none of {', '.join(by_name)}")

    warnings.simplefilter("ignore")
    recorder = Recorder(
        {name for name in options.ops.split(",") if name}, options.most_bytes,
        keeps_equal=options.whole is not None,
    )
    if options.calls:
        refused = run_calls(recorder, options.calls)
    elif options.whole:
        refused = run_whole_calls(recorder, options.whole, options.seed)
    else:
        refused = run_samples(
            recorder,
            [by_name[name] for name in options.dtypes.split(",")],
            options.seed,
            {name for name in options.infos.split(",") if name},
            options.reference,
        )

    count = write_calls(recorder.calls, options.out, options.per_op)
    print(f"{count} calls of {len({key[0] for key in recorder.calls})} overloads")
    print(f"{refused} samples that PyTorch {torch.__version__} refuses", file=sys.stderr)
    for reason, count in sorted(recorder.left_out.items()):
        print(f"left out {count}: {reason}", file=sys.stderr)


if __name__ == "__main__":
    main()
