#!/usr/bin/env python3
"""Prints which pointwise ops Inductor lowers to functions that it calls heavy on a CPU.

    PYTHON tools/dev/heavy_ops.py spec/ops/aten.txt

One line for each op, by its base name, with the functions; they are those that
should_realize_on_reuse looks for (torch/_inductor/ir.py). optimized/schedule/fuse_realize.cpp holds what
comes of the pinned version. Ops that the script has no arguments for are named on standard error.
"""

import contextlib
import sys

import torch
from torch._dispatch.python import enable_python_dispatcher
from torch._inductor import config, decomposition, ir
from torch._inductor.graph import GraphLowering
from torch._inductor.virtualized import V
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

HEAVY = ("exp", "log", "log10", "log1p", "log2", "sigmoid", "tanh")


def pointwise_ops(path):
    """The overloads with the tag pointwise that write nothing they are given, by base name."""
    ops = {}
    with open(path) as file:
        for line in file:
            schema, _, facts = line.partition(" ; ")
            if "pointwise" not in facts or "!" in schema or not schema.startswith("aten::"):
                continue
            name = schema[len("aten::"):schema.index("(")]
            base, _, overload = name.partition(".")
            packet = getattr(torch.ops.aten, base, None)
            found = getattr(packet, overload or "default", None)
            if found is not None:
                ops.setdefault(base, []).append(found)
    return ops


def arguments_of(op, number):
    """Tensors of one dtype, and plain numbers, for what has no default."""
    args = []
    for argument in op._schema.arguments:
        if argument.has_default_value() or argument.kwarg_only:
            break
        kind = str(argument.type)
        if kind == "Tensor":
            args.append(number(len(args)))
        elif kind in ("int", "number", "float"):
            args.append(2)
        elif kind == "bool":
            args.append(False)
        elif kind in ("Optional[Tensor]", "Optional[number]"):
            args.append(None)
        else:
            return None
    return args


def functions_of(op, args, kwargs):
    """The names of all functions in what is lowered."""
    used = set()
    realize = ir.StorageBox.realize

    def watched(box):
        if isinstance(box.data, (ir.Pointwise, ir.Reduction)):
            used.update(box.data.inner_fn_opcount().used_ops)
        return realize(box)

    fake = FakeTensorMode()
    inputs = [each for each in args if isinstance(each, torch.Tensor)]
    fakes = [fake.from_tensor(each) for each in inputs]

    def call(*tensors):
        rest = iter(tensors)
        return op(*(next(rest) if isinstance(a, torch.Tensor) else a for a in args), **kwargs)

    table = decomposition.select_decomp_table()
    with fake, enable_python_dispatcher():
        graph = make_fx(call, decomposition_table=table)(*fakes)
    ir.StorageBox.realize = watched
    try:
        with V.set_fake_mode(fake):
            lowering = GraphLowering(graph)
            with V.set_graph_handler(lowering):
                lowering.run(*fakes)
    finally:
        ir.StorageBox.realize = realize
    return used


def heavy_of(overloads, kwargs):
    makers = (
        lambda n: torch.rand(4, 4) + 0.25,
        lambda n: torch.randint(1, 5, (4, 4)),
        lambda n: torch.rand(4, 4) > 0.5,
    )
    heavy, ran = set(), False
    for op in overloads:
        for number in makers:
            args = arguments_of(op, number)
            if args is None:
                continue
            with contextlib.suppress(Exception):
                heavy |= functions_of(op, args, kwargs) & set(HEAVY)
                ran = True
                break
    return heavy, ran


def main():
    config.fallback_random = True
    print(f"# PyTorch {torch.__version__}")
    for base, overloads in sorted(pointwise_ops(sys.argv[1]).items()):
        variants = {base: {}}
        if any(a.name == "approximate" for a in overloads[0]._schema.arguments):
            variants = {base: {}, f"{base} approximate=tanh": {"approximate": "tanh"}}
        for name, kwargs in variants.items():
            heavy, ran = heavy_of(overloads, kwargs)
            if not ran:
                print(f"{name}: not run", file=sys.stderr)
            elif heavy:
                print(f"{name}: {' '.join(sorted(heavy))}")


if __name__ == "__main__":
    main()
