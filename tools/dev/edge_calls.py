#!/usr/bin/env python3
"""Compares eager PyTorch with compiled code over OpInfo's samples, whose numbers are replaced by edge numbers.

    edge_calls.py --out FILE.jsonl [--device cpu|cuda] [--part I/N] [--ops NAME ...]

Each pair of an op and a dtype is one graph: up to six samples as they are, and with NaN, infinities, signed zeros,
subnormal and large numbers in place of theirs. A line of FILE tells a value, dtype, size, stride or device that
differs beyond rounding, or a graph that does not compile. A line `begin` is written before each pair, so a run
that was killed goes on behind it. `truth` is the element that float64 on the CPU gives: whose fault a difference
is, is for the reader to say. Random ops are left out, and linear algebra, whose data may not be of any kind.

Needs the package expecttest, which torch.testing imports.
"""

import argparse
import itertools
import json
import math
import os
import random
import signal
import sys
from pathlib import Path

INF, NAN = math.inf, math.nan
FLOATS = (
    0.0, -0.0, NAN, INF, -INF, 0.5, -0.5, 1.5, 2.5, -1.5, 1.0, -1.0, 1e-40, -1e-40, 3.4e38, -3.4e38, 2.0, -2.0, 88.7,
    -88.7, 1e-6, -1e-6, 16777217.0, 7.3, 1e5, -1e5, 0.9999999, -0.9999999, 1.0000001, 255.0, 256.7, -300.5,
    2147483648.0, 9.3e18,
)  # fmt: skip
LEFT_OUT = (
    "bernoulli cauchy cholesky dropout eig empty exponential fft fractional geometric geqrf histogramdd householder "
    "istft jiterator linalg lobpcg log_normal lu multinomial nested normal ormqr pca_lowrank pinverse qr rand rrelu "
    "sparse stft svd uniform"
).split()
# Ops beside the elementwise ones and reductions that take any integer.
TAKE_ANY_INTEGER = (
    "aminmax argsort clamp clamp_max clamp_min cummax cummin cumprod cumsum diff dot floor_divide isin kthvalue lerp "
    "median mm mode msort mv outer sort topk trace where"
).split()
DTYPES = "float32 float16 bfloat16 float64 int64 int32 uint8 int8 bool".split()
ALLOWED = {"float64": 1e-9, "float32": 1e-4, "float16": 2e-2}  # relative; of others 8e-2
SAMPLES = 6
SECONDS = 60  # for one pair


class Late(Exception):
    pass


def edge_numbers(torch, tensor, seed):
    """Returns a tensor of the same geometry whose elements are edge numbers of its dtype, the same for one seed."""
    if tensor.dtype.is_floating_point:
        numbers = FLOATS
    else:
        limits = torch.iinfo(tensor.dtype)
        wanted = (limits.min, limits.max, 0, 1, 2, 3, -1, -2, limits.max - 1, limits.min + 1, 7, 31, 64, 255, 2**24 + 1)
        numbers = tuple(min(max(number, limits.min), limits.max) for number in wanted)
    chosen = random.Random(seed).choices(numbers, k=tensor.numel())
    dtype = torch.float64 if tensor.dtype.is_floating_point else torch.int64
    out = torch.empty_like(tensor)
    out.copy_(torch.tensor(chosen, dtype=dtype).reshape(tensor.shape).to(tensor.dtype))
    return out


def with_edges(torch, tree_map, call, seed, takes_integers):
    def replaced(value):
        if not isinstance(value, torch.Tensor) or value.dtype.is_complex or value.dtype == torch.bool:
            return value
        is_float = value.dtype.is_floating_point and value.dtype.itemsize > 1
        is_integer = not value.dtype.is_floating_point and takes_integers
        return edge_numbers(torch, value, seed) if is_float or is_integer else value

    return tree_map(replaced, call)


def element(tensor, at):
    return repr(tensor[at].item())


def differences(torch, leaves, dtype, call, eager, compiled, truth):
    """Yields what differs between two results of one call, leaf by leaf."""
    wanted, got = leaves(eager), leaves(compiled)
    true = leaves(truth) if truth is not None else []
    if len(wanted) != len(got):
        yield {"kind": "count", "what": f"{len(wanted)} {len(got)}"}
        return
    for place, (a, b) in enumerate(zip(wanted, got)):
        if not isinstance(a, torch.Tensor):
            if a != b and a == a:
                yield {"kind": "number", "what": f"{a} {b}"}
            continue
        facts = {"dtype": lambda t: t.dtype, "sizes": lambda t: tuple(t.shape), "device": lambda t: t.device.type}
        if a.numel() > 1:
            facts["strides"] = lambda t: t.stride()
        wrong = {name: f"{of(a)} {of(b)}" for name, of in facts.items() if of(a) != of(b)}
        yield from ({"kind": name, "out": place, "what": what} for name, what in wrong.items())
        if "dtype" in wrong or "sizes" in wrong:
            continue
        a, b = (torch.view_as_real(t.resolve_conj()) if t.is_complex() else t for t in (a, b))
        a, b = a.detach().cpu(), b.detach().cpu()
        if a.dtype.is_floating_point:
            a, b = a.double(), b.double()
            near = (a - b).abs() <= ALLOWED.get(dtype, 8e-2) * a.abs().clamp(min=1e-5)
            bad = ~((a == b) | (a.isnan() & b.isnan()) | near)
        else:
            bad = a != b
        if not bad.any():
            continue
        at = tuple(bad.nonzero()[0].tolist())
        row = {"kind": "value", "out": place, "count": int(bad.sum()), "of": bad.numel(), "at": at}
        row |= {"eager": element(a, at), "compiled": element(b, at)}
        if place < len(true) and isinstance(true[place], torch.Tensor) and true[place].shape == a.shape:
            row["truth"] = element(true[place].detach().cpu(), at)
        tensors = [t for t in leaves(call) if isinstance(t, torch.Tensor) and t.shape == a.shape]
        yield row | {"operands": [element(t.detach().cpu(), at) for t in tensors[:3]]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--part", default="0/1", help="I/N: every N-th pair, from the I-th on")
    parser.add_argument("--ops", nargs="*", default=[])
    arguments = parser.parse_args()
    part, parts = map(int, arguments.part.split("/"))
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    import torch
    import torch.utils._pytree as pytree
    from torch.testing._internal.common_methods_invocations import op_db
    from torch.testing._internal.opinfo.core import BinaryUfuncInfo, ReductionOpInfo, UnaryUfuncInfo

    torch.set_num_threads(1)
    torch._dynamo.config.recompile_limit = 1000
    tree_map = pytree.tree_map

    def clone(tree):
        return tree_map(lambda t: t.clone() if isinstance(t, torch.Tensor) else t, tree)

    def doubled(tree):
        def of(t):
            return (t.double() if t.dtype.is_floating_point else t).cpu() if isinstance(t, torch.Tensor) else t

        return tree_map(of, tree)

    def late(*_):
        raise Late()

    signal.signal(signal.SIGALRM, late)
    done = set()
    if arguments.out.exists():
        rows = map(json.loads, arguments.out.read_text().splitlines())
        done = {tuple(row["begin"]) for row in rows if "begin" in row}
    log = arguments.out.open("a")

    def say(**row):
        log.write(json.dumps(row) + "\n")
        log.flush()

    def compiled_one_by_one(run, calls):
        for call in calls:
            torch._dynamo.reset()
            try:
                yield torch.compile(run, dynamic=False)(clone(call))
            except Late:
                raise
            except Exception as error:
                yield error

    def look_at(op, dtype, key):
        def run(call):
            return op.op(call[0], *call[1], **call[2])

        torch.manual_seed(0)
        samples = list(itertools.islice(op.sample_inputs(arguments.device, dtype, requires_grad=False), 40))
        samples = samples[:: max(1, len(samples) // SAMPLES)][:SAMPLES]
        plain = (UnaryUfuncInfo, BinaryUfuncInfo, ReductionOpInfo)
        takes_integers = isinstance(op, plain) or op.name in TAKE_ANY_INTEGER
        calls, eager, truths = [], [], []
        for seed, sample in enumerate(samples):
            as_is = (sample.input, tuple(sample.args), dict(sample.kwargs))
            for call in (as_is, with_edges(torch, tree_map, as_is, seed, takes_integers)):
                try:
                    eager.append(run(clone(call)))
                except (RuntimeError, ValueError, TypeError, IndexError) as error:
                    if "CUDA error" in str(error):
                        raise
                    continue
                calls.append(clone(call))
                try:
                    truths.append(run(doubled(call)) if dtype.is_floating_point else None)
                except (RuntimeError, ValueError, TypeError, IndexError):
                    truths.append(None)
        torch._dynamo.reset()
        try:
            compiled = torch.compile(lambda all_calls: [run(call) for call in all_calls], dynamic=False)(clone(calls))
        except Late:
            raise
        except Exception as error:
            if "CUDA error" in str(error):
                raise
            compiled = list(compiled_one_by_one(run, calls))
        for number, (call, a, b, truth) in enumerate(zip(calls, eager, compiled, truths)):
            if isinstance(b, Exception):
                say(op=key, call=number, kind="refused", what=f"{type(b).__name__}: {b}"[:600])
                continue
            for row in differences(torch, pytree.tree_leaves, key[1], call, a, b, truth):
                say(op=key, call=number, **row)

    pairs = []
    for op in op_db:
        if any(word in op.name for word in LEFT_OUT) or (arguments.ops and op.name not in arguments.ops):
            continue
        supported = op.supported_dtypes(arguments.device)
        pairs += [(op, getattr(torch, name)) for name in DTYPES if getattr(torch, name) in supported]
    for op, dtype in pairs[part::parts]:
        key = (f"{op.name}.{op.variant_test_name}".rstrip("."), str(dtype).removeprefix("torch."))
        if key in done:
            continue
        say(begin=key)
        signal.alarm(SECONDS)
        try:
            look_at(op, dtype, key)
        except Late:
            say(op=key, kind="late", what=f"took over {SECONDS} s")
        except Exception as error:
            say(op=key, kind="error", what=f"{type(error).__name__}: {error}"[:300])
            if "CUDA error" in str(error):
                sys.exit(3)  # the process has no context any more: the next one goes on behind this pair
        finally:
            signal.alarm(0)
    say(end=True)


if __name__ == "__main__":
    main()
