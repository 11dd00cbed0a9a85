#!/usr/bin/env python3
"""Records calls of random ops with the state that PyTorch's CPU generator had before each.

    record_random_calls.py --out FILE.jsonl [--seed 0] [--no-states]

Writes FILE.jsonl and FILE.safetensors beside it, as record_op_cases.py does. The state stands for
the argument `generator`, as a tensor of uint8: so what is drawn is known, and judged. With
--no-states no state is told, and draws are open.

Needs PyTorch and safetensors.
"""

import argparse
import os
import sys

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from record_op_cases import Form, Recorder, write_calls  # noqa: E402

# Overloads that differ by the generator alone.
WITH_GENERATOR = {
    "aten.rand.default": "aten.rand.generator",
    "aten.rand_like.default": "aten.rand_like.generator",
    "aten.randint.default": "aten.randint.generator",
    "aten.randint.low": "aten.randint.low_generator",
    "aten.randint_like.default": "aten.randint_like.generator",
    "aten.randint_like.low_dtype": "aten.randint_like.low_generator_dtype",
    "aten.randn.default": "aten.randn.generator",
    "aten.randn_like.default": "aten.randn_like.generator",
    "aten.randperm.default": "aten.randperm.generator",
}


class SeededRecorder(Recorder):
    """Tells each call the state before it."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        state = torch.get_rng_state()
        count = {key: len(calls) for key, calls in self.calls.items()}
        result = super().__torch_dispatch__(func, types, args, kwargs)
        for key, calls in list(self.calls.items()):
            for call, before, _, _ in calls[count.get(key, 0) :]:
                name = WITH_GENERATOR.get(call["op"], call["op"])
                packet, _, overload = name.removeprefix("aten.").rpartition(".")
                schema = getattr(getattr(torch.ops.aten, packet), overload)._schema
                if not any(argument.name == "generator" for argument in schema.arguments):
                    continue
                form = Form()
                form.storages = {None: len(before) - 1}
                told = form.tensor(state)
                told["tensor"]["storage"] = len(before)
                before[len(before)] = state.clone()
                call["op"] = name
                call["kwargs"]["generator"] = told
        return result


WIDE = [torch.float32, torch.float64]
REAL = [*WIDE, torch.bfloat16, torch.float16]
WHOLE = [torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool]
SIZES = [(), (5,), (3, 5), (4, 8), (2, 3, 7), (0, 3), (37,)]


def layouts(dtype):
    """Tensors of several sizes and strides; the last one has gaps."""
    yield from (torch.ones(sizes, dtype=dtype) for sizes in SIZES)
    yield torch.ones(6, 7, dtype=dtype).t()
    yield torch.ones(2, 3, 4, 5, dtype=dtype).to(memory_format=torch.channels_last)
    yield torch.ones(2, 3, 4, dtype=dtype).permute(2, 0, 1)
    yield torch.ones(6, 8, dtype=dtype)[:, ::2]


def samples():
    """Functions without arguments, each of which runs one random op."""
    for dtype in REAL:
        for sizes in SIZES:
            yield lambda s=sizes, d=dtype: torch.rand(s, dtype=d)
            yield lambda s=sizes, d=dtype: torch.randn(s, dtype=d)
        for like in layouts(dtype):
            yield lambda x=like: torch.rand_like(x)
            yield lambda x=like: torch.randn_like(x)
            yield lambda x=like: x.uniform_(-1.5, 2.25)
            yield lambda x=like: x.normal_(0.5, 1.75)
            yield lambda x=like: x.exponential_(1.5)
            yield lambda x=like: x.cauchy_(0.5, 1.5)
            yield lambda x=like: x.log_normal_(0.25, 0.5)
            yield lambda x=like: x.geometric_(0.3)
            yield lambda x=like: x.bernoulli_(0.3)
            yield lambda x=like: x.random_()
            yield lambda x=like: x.random_(17)
            yield lambda x=like: x.random_(-9, 100)
            yield lambda x=like: torch.randint_like(x, 100)
            yield lambda x=like: torch.bernoulli(torch.rand_like(x))
            yield lambda x=like: torch.bernoulli(x, 0.7)
            yield lambda x=like: torch.normal(x, 2.0)
            yield lambda x=like: torch.normal(0.5, x)
            yield lambda x=like: torch.normal(x * 3, x / 2)
        if dtype in WIDE:
            yield lambda d=dtype: torch.ones(9, dtype=torch.int32).bernoulli_(
                torch.full((9,), 0.4, dtype=d)
            )
            yield lambda d=dtype: torch.ones(4, 9, dtype=d).bernoulli_(
                torch.linspace(0, 1, 9, dtype=torch.float64)
            )
    for dtype in WHOLE:
        for like in layouts(dtype):
            yield lambda x=like: x.random_()
            yield lambda x=like: x.random_(2)
            yield lambda x=like: x.bernoulli_(0.3)
        if dtype is not torch.bool:
            yield lambda d=dtype: torch.randint(3, 100, (4, 7), dtype=d)
            yield lambda d=dtype: torch.randperm(29, dtype=d)
            yield lambda d=dtype: getattr(torch.ops.aten.random_, "from")(
                torch.ones(7, dtype=d), 3, None
            )
    for high in (2**28 - 1, 2**28, 2**40, 2**63 - 1):
        yield lambda h=high: torch.randint(h, (9,))
        yield lambda h=high: torch.randint(-h, h // 2, (9,))
    yield lambda: getattr(torch.ops.aten.random_, "from")(
        torch.ones(7, dtype=torch.int64), -(2**63), None
    )
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        yield lambda d=dtype: torch.randperm(29, dtype=d)


def open_samples():
    """Ops whose draws stay open, whoever tells the state."""
    for dtype in REAL:
        for like in layouts(dtype):
            yield lambda x=like: torch.native_dropout(x, 0.25, True)
            yield lambda x=like: torch.poisson(x * 3)
            yield lambda x=like: torch.ops.aten.random(x)
            yield lambda x=like: torch.ops.aten.random.to(x, 5)
            yield lambda x=like: torch.ops.aten.normal_functional(x, 0.5, 2.0)
            yield lambda x=like: torch.randint_like(x, torch.tensor(5))
        if dtype in WIDE:
            for like in layouts(dtype):
                yield lambda x=like: torch.binomial(x * 7, x / 3)
                yield lambda x=like: torch._standard_gamma(x * 2)
                yield lambda x=like: torch._sample_dirichlet(x * 2)
            yield lambda d=dtype: torch.binomial(
                torch.full((3, 1), 40.0, dtype=d),
                torch.tensor([0.0, 0.5, 0.25, 1.0], dtype=d).expand(3, 4),
            )
        yield lambda d=dtype: torch.multinomial(torch.rand(3, 6, dtype=d), 4)
        yield lambda d=dtype: torch.multinomial(torch.rand(6, dtype=d), 9, True)


def whole_calls():
    """Ops that a dispatch mode never sees, since PyTorch takes them apart before: with arguments."""
    aten = torch.ops.aten
    for dtype in REAL:
        for like in layouts(dtype):
            for packet in (
                aten.dropout,
                aten.alpha_dropout,
                aten.feature_dropout,
                aten.feature_alpha_dropout,
            ):
                yield packet.default, (like * 3, 0.25, True), {}
                yield packet.default, (like * 3, 1.0, True), {}
                yield packet.default, (like * 3, 0.25, False), {}
            for packet in (
                aten.dropout_,
                aten.alpha_dropout_,
                aten.feature_dropout_,
                aten.feature_alpha_dropout_,
            ):
                yield packet.default, (like.clone(), 0.4, True), {}
            for training in (True, False):
                yield aten.rrelu.default, (like - 1.5, 0.125, 0.25, training), {}
                yield aten.rrelu_.default, (like.clone() - 1.5, 0.125, 0.25, training), {}
        for heads in (4, 2):
            query = torch.rand(2, 4, 5, 8, dtype=dtype)
            key = torch.rand(2, heads, 6, 8, dtype=dtype)
            attention = aten.scaled_dot_product_attention.default
            more = {"enable_gqa": heads == 2}
            yield attention, (query, key, key + 1, None, 0.3), more
            yield attention, (query, key, key + 1, None, 0.3, True), more
            turned = query.transpose(1, 2)
            yield attention, (turned, turned, turned, None, 1.0), {}
    for flags in ([True, True], [True, False], []):
        yield aten._is_all_true.default, (torch.tensor(flags, dtype=torch.bool),), {}
    yield aten._assert_async.default, (torch.tensor(3.5),), {}
    yield aten._assert_async.msg, (torch.tensor([True]), "it is true"), {}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--no-states", action="store_true")
    parser.add_argument("--per-op", type=int, default=1000)
    options = parser.parse_args()
    if not options.out.endswith(".jsonl"):
        parser.error(f"--out {options.out}: expected a name that ends with .jsonl")
    torch.manual_seed(options.seed)
    recorder = Recorder(set()) if options.no_states else SeededRecorder(set())
    seeded = {"nondeterministic_seeded"}
    refused = 0
    for sample in [*samples(), *(open_samples() if options.no_states else [])]:
        try:
            with recorder:
                sample()
        except RuntimeError:  # what PyTorch refuses is no call
            refused += 1
    own = Recorder(set())  # what is no random op is kept, too
    for function, args, kwargs in whole_calls() if options.no_states else []:
        try:
            own.__torch_dispatch__(function, (), args, kwargs)
        except RuntimeError:
            refused += 1
    for key in list(recorder.calls):
        packet, _, overload = key[0].removeprefix("aten.").rpartition(".")
        tags = getattr(getattr(torch.ops.aten, packet), overload).tags
        if not seeded & {str(tag).rpartition(".")[2] for tag in tags}:
            del recorder.calls[key]
    recorder.calls.update(own.calls)
    lines = write_calls(recorder.calls, options.out, options.per_op)
    print(f"{lines} calls of {len({key[0] for key in recorder.calls})} overloads")
    print(f"{refused} calls that PyTorch {torch.__version__} refuses", file=sys.stderr)


if __name__ == "__main__":
    main()
