#!/usr/bin/env python3
"""Finds what single ATen ops do otherwise in another version of PyTorch (CPU, eager mode).

    compare_op_versions.py make --out CALLS.jsonl [--from RECORDED.jsonl ...] [--dtypes NAME ...] [--per-op 3]
    compare_op_versions.py run CALLS.jsonl --out RESULTS.jsonl [--only CASES] [--values FILE.pt]
    compare_op_versions.py compare OLD.jsonl NEW.jsonl --out CASES
    compare_op_versions.py show OLD.pt NEW.pt --calls CALLS.jsonl [--again OLD2.pt NEW2.pt]

`make` stores calls once, so that every version gets the same bytes: those of OpInfo's samples, which a dispatch mode
sees, and those of recordings (docs/formats.md, "Recorded op calls"). Each comes as it is and in variants. These have edge
numbers as elements and as numbers, other flags, dtypes and dimensions, other layouts, and other sizes; they write into
`out` and in place. Run it with the newest version; it needs the package expecttest.

`run` calls each of them with one version. A line tells the refusal, or what each result is: its dtype, its geometry,
whose storage it has, and a digest of its elements. It has a digest of each storage of the arguments, too, as the call
left it. All NaN count as one. A call runs in a forked process, so that one that crashes or takes more than 20 s of a
processor is a line, too.

`compare` counts what differs, by op and kind, and writes the numbers of these cases. `run --only CASES --values FILE.pt`
keeps their results whole, and `show` prints how far they are apart. With `--again`, the results of a second run of both,
what differs between two runs of one version is left out: that is memory that nobody wrote.
"""

import argparse
import collections
import hashlib
import itertools
import json
import math
import os
import random
import resource
import signal
import sys
import warnings
from pathlib import Path

import torch
from torch.utils._pytree import tree_flatten, tree_map

from edge_calls import TAKE_ANY_INTEGER, edge_numbers
from record_op_cases import NAMES, Form, NoPlace, storable

SECONDS = 20  # of a processor, for one call
MOST_BYTES = 24_000  # of the storages of one call
MOST_MEMORY = 1 << 30  # of one call; more is refused
SAMPLES = 10  # of an OpInfo and dtype
DTYPES = "float32 float64 bfloat16 float16 int64 int32 int8 uint8 bool complex64"
BY_NAME = {name: dtype for dtype, name in NAMES.items()}
NUMBERS = (0, 1, -1, 2, 300, -300, 2**40, 0.5, -0.5, 2.5, -300.5, 1e30, -1e30, math.inf, -math.inf, math.nan, True)
MORE_TAKE_ANY_INTEGER = "_to_copy cat copy fill flip mean pow prod roll stack sum".split()
WHOLE = (-2, -1, 0, 1, 3)
OTHER_DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.uint8, torch.bool)
MIXED_DTYPES = (torch.float64, torch.float16, torch.int64, torch.uint8, torch.bool)


# Calls, as JSON and as Python


def op_of(name):
    """The overload of a name such as aten.add.Tensor; None where this version has none."""
    target = torch.ops
    for word in name.split("."):
        target = getattr(target, word, None)
        if target is None:
            return None
    return target if hasattr(target, "_schema") else None


def read_calls(path, only=None):
    """Yields the number, the op, its arguments as JSON, and the contents of their storages."""
    from safetensors import safe_open

    with safe_open(str(path).removesuffix(".jsonl") + ".safetensors", "pt") as tensors:
        names = collections.defaultdict(list)
        for name in tensors.keys():
            case, _, part = name.partition(".")
            if part.startswith("in"):
                names[int(case)].append(part)
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                call = json.loads(line)
                case = call["case"]
                if only is not None and case not in only:
                    continue
                data = {part[2:]: tensors.get_tensor(f"{case}.{part}") for part in names[case]}
                yield case, call["op"], (call["args"], call["kwargs"]), data


class Decoder:
    """Makes arguments of JSON: tensors of one storage share memory, which is a copy of its contents."""

    def __init__(self, data):
        self.storages = {number: contents.clone() for number, contents in data.items()}

    def value(self, value):
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if not isinstance(value, dict):
            return value
        ((kind, of),) = value.items()
        if kind == "tensor":
            return self.tensor(of)
        if kind == "float":
            return float(of)
        if kind == "complex":
            return complex(*(self.value(part) for part in of))
        if kind == "device":
            return torch.device(of)
        return BY_NAME[of] if kind == "dtype" else getattr(torch, of)

    def tensor(self, of):
        contents = self.storages[str(of["storage"])]
        dtype = BY_NAME[of["dtype"]]
        if contents.dtype != dtype:
            contents = contents.view(dtype)
            self.storages[str(of["storage"])] = contents
        return contents.as_strided(of["sizes"], of["strides"], of["storage_offset"])


# Variants of one call


class Variants:
    """Yields calls that are one thing away from a given one, as pairs of arguments."""

    def __init__(self, op, args, kwargs, seed):
        self.op, self.args, self.kwargs = op, args, kwargs
        self.random = random.Random(seed)
        self.seed = seed

    def named(self):
        """The arguments of the schema that the call gives: (its row, its key, its value)."""
        for position, row in enumerate(self.op._schema.arguments):
            if row.kwarg_only:
                if row.name in self.kwargs:
                    yield row, row.name, self.kwargs[row.name]
            elif position < len(self.args):
                yield row, position, self.args[position]

    def with_value(self, key, value):
        args, kwargs = list(self.args), dict(self.kwargs)
        (args if isinstance(key, int) else kwargs)[key] = value
        return args, kwargs

    def mapped(self, function):
        return tree_map(lambda v: function(v) if isinstance(v, torch.Tensor) else v, (self.args, self.kwargs))

    def edges(self):
        name = self.op._schema.name.removeprefix("aten::").rstrip("_")
        if "polynomial" in name:
            return  # kernels take a step for each degree: a large one takes years
        takes_integers = torch.Tag.pointwise in self.op.tags or name in (*TAKE_ANY_INTEGER, *MORE_TAKE_ANY_INTEGER)

        def replaced(seed):
            def of(tensor):
                if tensor.dtype.is_complex:
                    return torch.view_as_complex(of(torch.view_as_real(tensor).clone()))
                if tensor.dtype == torch.bool or tensor.dtype.itemsize == 1 and tensor.dtype.is_floating_point:
                    return tensor
                if not tensor.dtype.is_floating_point and not takes_integers:
                    return tensor
                return edge_numbers(torch, tensor, seed)

            return of

        for seed in range(3):
            yield self.mapped(replaced(self.seed * 3 + seed))

    def numbers(self):
        for row in self.op._schema.arguments:
            if row.name == "dtype" and "dtype" not in self.kwargs and row.kwarg_only:
                yield from ((list(self.args), self.kwargs | {"dtype": dtype}) for dtype in OTHER_DTYPES)
        for row, key, value in self.named():
            kind = str(row.type).removeprefix("Optional[").removesuffix("]")
            if isinstance(value, (torch.dtype, torch.memory_format, torch.layout, torch.device)):
                kind = type(value).__name__
            if kind in ("number", "float"):
                others = self.random.sample(NUMBERS, 9)
                others = [float(n) for n in others] if kind == "float" else others
            elif kind == "int" and row.name not in ("size", "n", "m", "steps", "high", "num_classes"):
                others = list(WHOLE)
            elif kind == "bool":
                others = [not value]
            elif kind == "dtype":
                others = list(OTHER_DTYPES)
            elif kind == "memory_format":
                others = [torch.contiguous_format, torch.channels_last, torch.preserve_format]
            elif kind == "List[int]" and row.name in ("dim", "dims"):
                others = [[], [-1], [0, 0], [5]]
            elif kind == "Tensor" and str(row.type).startswith("Optional") and value is not None:
                others = [None]
            else:
                continue
            for other in others:
                yield self.with_value(key, other)

    def layouts(self):
        def turned(tensor):
            return tensor.mT.contiguous().mT if tensor.dim() >= 2 else tensor

        def gaps(tensor):
            if tensor.dim() == 0:
                return tensor
            wide = tensor.repeat_interleave(2, dim=-1)
            return wide[..., ::2]

        def channels_last(tensor):
            return tensor.contiguous(memory_format=torch.channels_last) if tensor.dim() == 4 else tensor

        def spread(tensor):
            return tensor[:1].expand(tensor.shape) if tensor.dim() and tensor.shape[0] > 1 else tensor

        ways = (turned, gaps, channels_last)
        yield from (self.mapped(way) for way in ways)
        for row, key, value in self.named():
            if isinstance(value, torch.Tensor):
                yield self.with_value(key, spread(value))
                yield self.with_value(key, turned(value))

    def shapes(self):
        for row, key, value in self.named():
            if not isinstance(value, torch.Tensor):
                continue
            if value.dim() and value.shape[0]:
                yield self.with_value(key, value[:0])
                yield self.with_value(key, value[1:])
                yield self.with_value(key, value[0])
            if value.numel():
                yield self.with_value(key, value.flatten()[0])
            yield self.with_value(key, value.unsqueeze(0))

    def mixed(self):
        for row, key, value in self.named():
            if isinstance(value, torch.Tensor):
                for dtype in self.random.sample(MIXED_DTYPES, 2):
                    yield self.with_value(key, value.to(dtype))

    def all(self):
        ways = (self.edges, self.numbers, self.layouts, self.shapes, self.mixed)
        for way in ways:
            try:
                for args, kwargs in way():
                    yield way.__name__, args, kwargs
            except RuntimeError:  # this call has no such variants: tensors that overlap themselves, say
                continue


def siblings(op, args, kwargs, result):
    """Yields the same call in place and into `out`: (op, arguments)."""
    namespace, name = op._schema.name.split("::")
    given = [(row.name, str(row.type)) for row in op._schema.arguments]
    for other_name in (name, name + "_"):
        packet = getattr(getattr(torch.ops, namespace), other_name, None)
        for overload in packet.overloads() if packet is not None else ():
            other = getattr(packet, overload)
            if other is op:
                continue
            outs = [row for row in other._schema.arguments if row.is_out]
            rest = [(row.name, str(row.type)) for row in other._schema.arguments if not row.is_out]
            # A factory's dtype, layout, device and pin_memory are out's.
            same = [item for item in given if item[0] not in ("dtype", "layout", "device", "pin_memory")] if outs else given
            if rest not in (given, same):
                continue
            left = {key: value for key, value in kwargs.items() if key in dict(rest)}
            if not outs:
                yield other, args, left
                continue
            results = result if isinstance(result, (list, tuple)) else [result]
            if len(results) != len(outs) or not all(isinstance(r, torch.Tensor) for r in results):
                continue
            for way in (lambda r: torch.zeros_like(r), lambda r: torch.zeros(r.shape, dtype=torch.float64),
                        lambda r: torch.zeros(r.shape, dtype=torch.int32), lambda r: torch.zeros(0, dtype=r.dtype),
                        lambda r: torch.zeros(2 * r.numel(), dtype=r.dtype)[::2].reshape(r.shape) if r.dim() == 1
                        else torch.zeros_like(r.mT if r.dim() > 1 else r).reshape(r.shape)):
                yield other, args, left | {row.name: way(r) for row, r in zip(outs, results)}


class Writer:
    """Writes calls whose form has a place for them, each once, and says how many of an op and dtype it has."""

    def __init__(self, path):
        self.path, self.tensors, self.seen = path, {}, set()
        self.counts = collections.Counter()
        self.lines = open(path, "w", encoding="utf-8")

    def add(self, op, args, kwargs, how):
        form = Form()
        try:
            call = {"op": str(op), "args": [form.value(a) for a in args],
                    "kwargs": {k: form.value(v) for k, v in kwargs.items() if v is not None}}
        except NoPlace:
            return
        if sum(data.nbytes for data in form.data.values()) > MOST_BYTES:
            return
        digest = hashlib.sha1(json.dumps(call).encode())
        for data in form.data.values():
            digest.update(bits(data))
        if digest.digest() in self.seen:
            return
        self.seen.add(digest.digest())
        number = sum(self.counts.values())
        self.counts[how] += 1
        self.lines.write(json.dumps({"case": number, **call, "how": how}) + "\n")
        self.tensors.update({f"{number}.in{s}": storable(data) for s, data in form.data.items()})

    def close(self):
        from safetensors.torch import save_file

        self.lines.close()
        save_file(self.tensors, str(self.path).removesuffix(".jsonl") + ".safetensors")


def sample_calls(dtypes, only, per_op):
    """Returns calls of overloads as OpInfo's samples make them: (op, dtype) -> a list of (op, args, kwargs)."""
    from torch.testing._internal.common_methods_invocations import op_db
    from torch.utils._python_dispatch import TorchDispatchMode

    calls = collections.defaultdict(list)
    seen = set()

    class Collector(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            kwargs = kwargs or {}
            leaves = tree_flatten((args, kwargs))[0]
            tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
            key = (str(func), NAMES.get(tensors[0].dtype) if tensors else None)
            if len(calls[key]) < 4 * per_op and sum(t.untyped_storage().nbytes() for t in tensors) <= MOST_BYTES:
                facts = [(t.shape, t.stride(), t.dtype) if isinstance(t, torch.Tensor) else t for t in leaves]
                fact = (key, str(facts))
                if fact not in seen:
                    seen.add(fact)
                    calls[key].append((func, *copies((args, kwargs))))
            return func(*args, **kwargs)

    def copies(tree):
        """Of one call: tensors that share a storage share it in the copy."""
        storages = {}

        def of(t):
            if not isinstance(t, torch.Tensor) or t.layout != torch.strided or t.device.type != "cpu":
                return t
            if t.is_conj() or t.is_neg():
                return t.clone()
            old = t.untyped_storage()
            new = storages.setdefault(old._cdata, None)
            if new is None:
                new = storages[old._cdata] = old.clone()
            return torch.empty(0, dtype=t.dtype).set_(new, t.storage_offset(), t.shape, t.stride())

        return tree_map(of, tree)

    for info in op_db:
        if only and info.name not in only:
            continue
        for dtype in dtypes:
            if not info.supports_dtype(dtype, "cpu"):
                continue
            torch.manual_seed(0)
            try:
                samples = list(itertools.islice(info.sample_inputs("cpu", dtype, requires_grad=False), 40))
            except Exception:  # noqa: BLE001: whatever a sample's maker throws, there is no sample
                continue
            for sample in samples[:: max(1, len(samples) // SAMPLES)]:
                try:
                    with Collector():
                        info.op(sample.input, *sample.args, **sample.kwargs)
                except Exception:  # noqa: BLE001: what PyTorch refuses comes as a variant
                    continue
    return calls


def make(options):
    calls = collections.defaultdict(list)
    if options.dtypes:
        calls = sample_calls([BY_NAME[name] for name in options.dtypes], options.ops, options.per_op)
    for path in options.recorded:
        for _, name, arguments, data in read_calls(path):
            op = op_of(name)
            if op is None or "generator" in arguments[1] or (options.ops and name.split(".")[1] not in options.ops):
                continue
            decoder = Decoder(data)
            args = [decoder.value(a) for a in arguments[0]]
            kwargs = {key: decoder.value(a) for key, a in arguments[1].items()}
            first = next((a for a in args if isinstance(a, torch.Tensor)), None)
            calls[(name, f"recorded {first.dtype if first is not None else None}")].append((op, args, kwargs))
    writer = Writer(options.out)
    for key in sorted(calls, key=str):
        op = calls[key][0][0]
        if "generator" in [row.name for row in op._schema.arguments]:
            continue
        kept = calls[key]
        if len(kept) > options.per_op and not key[1] == "all":
            kept = [kept[i * len(kept) // options.per_op] for i in range(options.per_op)]
        variants = []
        for seed, (op, args, kwargs) in enumerate(kept):
            writer.add(op, args, kwargs, "as is")
            variants += Variants(op, args, kwargs, seed).all()
            try:
                result = op(*tree_map(lambda t: t.clone() if isinstance(t, torch.Tensor) else t, args), **kwargs)
            except Exception:  # noqa: BLE001: what is refused has no result to be written elsewhere
                continue
            for other, more, named in siblings(op, args, kwargs, result):
                writer.add(other, more, named, "sibling")
        random.Random(str(key)).shuffle(variants)
        for how, args, kwargs in variants[: options.most]:
            writer.add(op, args, kwargs, how)
    writer.close()
    print(f"{sum(writer.counts.values())} calls of {len({k[0] for k in calls})} overloads: {dict(writer.counts)}")


# Running them


def bits(tensor):
    """The elements in order, with one NaN for all."""
    tensor = tensor.detach().resolve_conj().resolve_neg().contiguous()
    if tensor.dtype.is_complex:
        tensor = torch.view_as_real(tensor)
    if tensor.dtype.is_floating_point and tensor.dtype.itemsize > 1 and tensor.isnan().any():
        tensor = torch.where(tensor.isnan(), torch.full((), math.nan, dtype=tensor.dtype), tensor)
    return tensor.reshape(-1).view(torch.uint8).numpy().tobytes() if tensor.numel() else b""


def storage_of(tensor):
    storage = tensor.untyped_storage()
    flat = torch.empty(0, dtype=tensor.dtype)
    return flat.set_(storage, 0, (storage.nbytes() // tensor.element_size(),), (1,))


def call_once(name, arguments, data, keeps_values):
    """Returns a row of what a call came to, and its results if they are to be kept."""
    op = op_of(name)
    if op is None:
        return {"missing": True}, None
    decoder = Decoder(data)
    args = [decoder.value(a) for a in arguments[0]]
    kwargs = {key: decoder.value(a) for key, a in arguments[1].items()}
    before = {
        leaf.untyped_storage()._cdata: leaf
        for leaf in tree_flatten((args, kwargs))[0] if isinstance(leaf, torch.Tensor)
    }
    torch.manual_seed(0)
    try:
        result = op(*args, **kwargs)
    except Exception as error:  # noqa: BLE001: a refusal is what the call came to
        return {"refused": type(error).__name__, "message": str(error).splitlines()[0][:200] if str(error) else ""}, None
    order = {storage: f"in{number}" for number, storage in enumerate(before)}
    rows, values = [], []
    for leaf in tree_flatten(result)[0]:
        if not isinstance(leaf, torch.Tensor):
            rows.append(repr(leaf))
            values.append(leaf)
            continue
        if leaf.layout != torch.strided:
            rows.append(str(leaf.layout))
            values.append(None)
            continue
        shares = order.setdefault(leaf.untyped_storage()._cdata, f"out{len(rows)}")
        rows.append({"dtype": str(leaf.dtype), "sizes": list(leaf.shape), "strides": list(leaf.stride()),
                     "offset": leaf.storage_offset(), "shares": shares, "marks": [leaf.is_conj(), leaf.is_neg()],
                     "bits": hashlib.sha1(bits(leaf)).hexdigest()})  # fmt: skip
        values.append(leaf.detach().resolve_conj().resolve_neg().clone() if keeps_values else None)
    after = [hashlib.sha1(bits(storage_of(leaf))).hexdigest() for leaf in before.values()]
    row = {"results": rows, "after": after}
    if keeps_values:
        values = (values, [storage_of(leaf).clone() for leaf in before.values()])
    return row, values


def run(options):
    only = set(map(int, options.only.read_text().split())) if options.only else None
    torch.set_num_threads(1)
    cases = list(read_calls(options.calls, only))
    position, kept = 0, {}
    outcomes = collections.Counter()
    out = open(options.out, "w", encoding="utf-8")

    def write(row):  # at once: a run that is stopped leaves what it has
        outcomes[next(kind for kind in ("missing", "refused", "crash", "results", "torch") if kind in row)] += 1
        out.write(json.dumps(row) + "\n")
        out.flush()

    write({"torch": torch.__version__})
    while position < len(cases):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            limit = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE") + MOST_MEMORY
            resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            values = {}
            with os.fdopen(writing, "w") as told:
                for number, name, arguments, data in cases[position:]:
                    signal.setitimer(signal.ITIMER_PROF, SECONDS)
                    row, value = call_once(name, arguments, data, options.values is not None)
                    if value is not None:
                        values[number] = value
                    told.write(json.dumps({"case": number, "op": name, **row}) + "\n")
                    told.flush()
                signal.setitimer(signal.ITIMER_PROF, 0)
                if options.values:
                    torch.save(values, f"{options.values}.{position}")
            os._exit(0)
        os.close(writing)
        begun = position
        with os.fdopen(reading) as lines:
            for line in lines:
                write(json.loads(line))
                position += 1
        _, status = os.waitpid(child, 0)
        part = Path(f"{options.values}.{begun}")
        if options.values and part.exists():
            kept |= torch.load(part, weights_only=False)
            part.unlink()
        if position < len(cases):
            number, name, *_ = cases[position]
            write({"case": number, "op": name, "crash": os.waitstatus_to_exitcode(status)})
            position += 1
    out.close()
    if options.values:
        torch.save(kept, options.values)
    print(f"{torch.__version__}: {dict(outcomes)}")


# What differs


def kinds_of(old, new):
    """The kinds of difference between two rows of one call."""
    for kind in ("missing", "crash", "refused"):
        if (kind in old) != (kind in new):
            return [f"{kind} by {'old' if kind in old else 'new'}"]
    if "results" not in old:
        return ["refused as another error"] if old.get("refused") != new.get("refused") else []
    if len(old["results"]) != len(new["results"]):
        return ["count"]
    kinds = set()
    for a, b in zip(old["results"], new["results"]):
        if not isinstance(a, dict) or not isinstance(b, dict):
            kinds |= {"number"} if a != b else set()
            continue
        kinds |= {what for what in ("dtype", "sizes", "strides", "offset", "shares", "marks") if a[what] != b[what]}
        if a["bits"] != b["bits"] and a["dtype"] == b["dtype"] and a["sizes"] == b["sizes"]:
            kinds.add("value")
    if old["after"] != new["after"]:
        kinds.add("arguments")
    return sorted(kinds)


def read_rows(path):
    with open(path, encoding="utf-8") as lines:
        version = json.loads(next(lines))["torch"]
        return version, {row["case"]: row for row in map(json.loads, lines)}


def compare(options):
    (old_version, old), (new_version, new) = read_rows(options.old), read_rows(options.new)
    counts = collections.defaultdict(list)
    for case in sorted(old.keys() & new.keys()):
        for kind in kinds_of(old[case], new[case]):
            counts[(new[case]["op"], kind)].append(case)
    print(f"{len(old)} calls, {old_version} -> {new_version}")
    for (op, kind), cases in sorted(counts.items()):
        message = ""
        if "refused" in kind:
            row = old[cases[0]] if "message" in old[cases[0]] else new[cases[0]]
            message = row.get("message", "")[:110]
        print(f"{op}\t{kind}\t{len(cases)}\t{cases[0]}\t{message}")
    options.out.write_text("".join(f"{case}\n" for case in sorted({c for cs in counts.values() for c in cs})))


def far_apart(a, b):
    """In words: the first element that differs, how many do, and the largest relative difference."""
    if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
        return "" if a == b or a != a and b != b else f"{a} {b}"
    facts = ((a.dtype, b.dtype), (tuple(a.shape), tuple(b.shape)), (a.stride(), b.stride()))
    told = [f"{x} {y}" for x, y in facts if x != y]
    if told[:1] and (a.dtype != b.dtype or a.shape != b.shape):
        return "; ".join(told)
    wide = torch.complex128 if a.dtype.is_complex else torch.float64 if a.dtype.is_floating_point else torch.int64
    a, b = a.to(wide), b.to(wide)
    bad = ~((a == b) | ((a != a) & (b != b)))
    if bad.any():
        at = tuple(bad.nonzero()[0].tolist())
        relative = ((a - b).abs() / a.abs().clamp(min=1)).nan_to_num(math.inf)[bad].max().item()
        told.append(f"{int(bad.sum())} of {a.numel()}, at {list(at)} {a[at].item()} {b[at].item()}, relative {relative:.2g}")
    return "; ".join(told)


def show(options):
    old, new, *again = (torch.load(path, weights_only=False) for path in (options.old, options.new, *options.again))
    shared = old.keys() & new.keys()
    for case, name, arguments, data in read_calls(options.calls, shared):
        for kind, leaves in enumerate(zip(old[case], new[case])):
            for number, (a, b) in enumerate(zip(*leaves)):
                told = far_apart(a, b)
                repeats = [values[case][kind][number] for values in again if case in values]
                is_open = any(far_apart(x, y) for x, y in zip((a, b), repeats))
                if told and not is_open:
                    print(f"{case} {name} {('result', 'argument')[kind]} {number}: {told}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    made = verbs.add_parser("make")
    made.add_argument("--out", required=True, type=Path)
    made.add_argument("--from", dest="recorded", nargs="*", default=[], type=Path)
    made.add_argument("--dtypes", nargs="*", default=DTYPES.split())
    made.add_argument("--ops", nargs="*", default=[])
    made.add_argument("--per-op", type=int, default=3, help="calls of an overload and dtype that get variants")
    made.add_argument("--most", type=int, default=60, help="variants of an overload and dtype")
    made.set_defaults(run=make)
    ran = verbs.add_parser("run")
    ran.add_argument("calls", type=Path)
    ran.add_argument("--out", required=True, type=Path)
    ran.add_argument("--only", type=Path)
    ran.add_argument("--values", type=Path)
    ran.set_defaults(run=run)
    compared = verbs.add_parser("compare")
    compared.add_argument("old", type=Path)
    compared.add_argument("new", type=Path)
    compared.add_argument("--out", required=True, type=Path)
    compared.set_defaults(run=compare)
    shown = verbs.add_parser("show")
    shown.add_argument("old", type=Path)
    shown.add_argument("new", type=Path)
    shown.add_argument("--calls", required=True, type=Path)
    shown.add_argument("--again", nargs=2, default=[], type=Path)
    shown.set_defaults(run=show)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    options.run(options)


if __name__ == "__main__":
    main()
