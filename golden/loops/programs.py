#!/usr/bin/env python3
"""Exports the programs of this folder again: loops, and parts that PyTorch wraps.

    PYTHONPATH=tools/adapters/torch python golden/loops/programs.py FOLDER [NAME...]

Writes NAME.pt2 as torch.export leaves it, NAME.core.pt2 after run_decompositions(), and the
recording of the eager calls. PROVENANCE.md tells more.
"""

import copy
import sys
import warnings

import torch
from torch import nn
from torch._higher_order_ops import scan, while_loop
from torch._higher_order_ops.hints_wrap import hints_wrapper
from torch._higher_order_ops.map import map as map_along
from torch._higher_order_ops.strict_mode import strict_mode
from torch.utils.checkpoint import checkpoint

from graphgate_torch.export import export


def counter(value=0):
    return torch.full((), value, dtype=torch.int64)


class WhileCounter(nn.Module):
    """Runs as often as an input says: not at all, too."""

    def forward(self, n, x):
        def body(i, y):
            return i + 1, torch.sin(y) + 1

        return while_loop(lambda i, y: i < n, body, (counter(), x))


class WhileData(nn.Module):
    """Ends by what the numbers say; the body has parameters and a buffer of the module."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("step", torch.full((4,), 1.5))

    def forward(self, x):
        def body(y, z):
            return y.abs() + self.step, torch.tanh(self.linear(z))

        return while_loop(lambda y, z: y.sum() < 100, body, (x, x.clone()))


class WhileInCond(nn.Module):
    def forward(self, p, x):
        def yes(x):
            return while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2), (counter(), x + 0.5))[1]

        return torch.cond(p.sum() > 0, yes, lambda x: x + 1, (x,))


class WhileNested(nn.Module):
    def forward(self, x):
        def body(i, y):
            z = while_loop(lambda j, z: j < i, lambda j, z: (j + 1, z * 0.5 + 1), (counter(), y * 1))[1]
            return i + 1, z

        return while_loop(lambda i, y: i < 4, body, (counter(), x))


class WhileSwap(nn.Module):
    """What is carried changes places."""

    def forward(self, x, y):
        def body(i, a, b):
            return i + 1, b.clone(), a + 1

        return while_loop(lambda i, a, b: i < 3, body, (counter(), x, y))


class WhilePytree(nn.Module):
    def forward(self, x):
        def body(state):
            return ({"i": state["i"] + 1, "v": (state["v"][0] * 2, state["v"][1] @ state["v"][0])},)

        start = ({"i": counter(), "v": (x, x.clone())},)
        return while_loop(lambda state: state["i"] < 3, body, start)


class WhileCondInside(nn.Module):
    def forward(self, x):
        def body(i, y):
            y = torch.cond(y.sum() > 0, lambda y: y - 1, lambda y: y + 1.25, (y,))
            return i + 1, y

        return while_loop(lambda i, y: i < 5, body, (counter(), x))


class WhileDynamic(nn.Module):
    """A symbolic size goes through the loop."""

    def forward(self, x, w):
        def body(i, y):
            return i + 1, torch.relu(y @ w) + y.shape[0]

        return while_loop(lambda i, y: i < 2, body, (counter(), x))


class ScanForward(nn.Module):
    def forward(self, x):
        return scan(lambda c, a: (c + a, (c * a).sin()), torch.zeros(4), x)


class ScanReverse(nn.Module):
    """From the end, along another dimension, with pytrees."""

    def forward(self, x):
        def body(c, a):
            return {"s": c["s"] + a, "p": c["p"] * 2}, (c["p"] * a, a + 1)

        start = {"s": torch.zeros(3), "p": torch.ones(3)}
        return scan(body, start, x, dim=1, reverse=True)


class ScanRecurrent(nn.Module):
    """A recurrent layer: parameters, a batch."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4, bias=False)

    def forward(self, h, x):
        def body(h, a):
            h = torch.tanh(self.linear(h) + self.second(a))
            return h, h.clone()

        return scan(body, h, x)


class ScanTransposed(nn.Module):
    """Slices that are not row-major."""

    def forward(self, x):
        return scan(lambda c, a: (c + 1, a * 2), torch.zeros(3, 4), x, dim=2)


class ScanLength(nn.Module):
    def forward(self, x):
        return scan(lambda c, a: (c * 2, c + 1), x, None, length=4)


class MapAlong(nn.Module):
    def forward(self, x, y):
        return map_along(lambda a, y: (a + y).sum(0), x, y)


class MapPytree(nn.Module):
    def forward(self, x, y, w):
        return map_along(lambda p, w: {"s": p[0] + p[1] @ w, "d": p[0] - 1}, (x, y), w)


class Checkpointed(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return checkpoint(lambda x: self.linear(x).relu(), x, use_reentrant=False) + 1


class GradInside(nn.Module):
    """Gradients are on in a part of what is exported without them."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        y = self.linear(x) + 1
        with torch.enable_grad():
            z = self.linear(y)
        return z * 2


class AutocastOff(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        with torch.autocast("cpu", enabled=False):
            y = self.linear(x)
        return y + 1


class AutocastOn(nn.Module):
    """Ops that run in bfloat16, in float32, in the widest dtype, and as they are."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.norm = nn.LayerNorm(4)
        self.conv = nn.Conv1d(2, 3, 2)

    def forward(self, x, image):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = self.linear(x)
            z = torch.softmax(y @ x.t(), -1)
            w = self.norm(x + y)
            both = torch.cat([y, x])
            loss = nn.functional.mse_loss(y, x)
            image = nn.functional.relu(self.conv(image)).mean(-1)
        return y, z, w, both, loss, image.float() * 2


class AutocastAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(8, 24)
        self.out = nn.Linear(8, 8)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            q, k, v = self.qkv(x).chunk(3, dim=-1)
            y = nn.functional.scaled_dot_product_attention(q, k, v)
            y = self.out(y) + x
        return y


class Hints(nn.Module):
    def forward(self, x, y):
        return hints_wrapper(lambda x, y: torch.relu(x) + y, (x + y, y), {}, hints={"fuse": True})


class Strict(nn.Module):
    def forward(self, x):
        return strict_mode(lambda x: (x.sin() + 1, x.cos()), (x,))


@torch.compiler.nested_compile_region
def _region(x, y):
    return torch.sin(x) * y


class NestedRegion(nn.Module):
    def forward(self, x, y):
        return _region(_region(x, y), y)


def programs():
    """By name: a module, calls, dynamic shapes."""
    torch.manual_seed(39)
    f = torch.randn
    batch = torch.export.Dim("batch", min=2, max=16)
    return {
        "while_counter": (WhileCounter(), [(counter(n), f(3)) for n in (5, 0, 1)], None),
        "while_data": (WhileData(), [(f(3, 4),), (f(3, 4) + 50,)], None),
        "while_in_cond": (WhileInCond(), [(f(3) + 3, f(2, 2)), (f(3) - 3, f(2, 2))], None),
        "while_nested": (WhileNested(), [(f(3),)], None),
        "while_swap": (WhileSwap(), [(f(3), f(3))], None),
        "while_pytree": (WhilePytree(), [(f(3, 3),)], None),
        "while_cond_inside": (WhileCondInside(), [(f(4),), (f(4) + 2,)], None),
        "while_dynamic": (
            WhileDynamic(), [(f(3, 4), f(4, 4)), (f(7, 4), f(4, 4))], ({0: batch}, None)),
        "scan_forward": (ScanForward(), [(f(5, 4),)], None),
        "scan_reverse": (ScanReverse(), [(f(3, 5),)], None),
        "scan_recurrent": (
            ScanRecurrent(), [(f(2, 4), f(5, 2, 4)), (f(2, 4), f(9, 2, 4))], (None, {0: batch})),
        "scan_transposed": (ScanTransposed(), [(f(3, 4, 5),)], None),
        "scan_length": (ScanLength(), [(f(3),)], None),
        "map": (MapAlong(), [(f(5, 2, 3), f(3)), (f(3, 2, 3), f(3))], ({0: batch}, None)),
        "map_pytree": (MapPytree(), [(f(4, 2, 3), f(4, 2, 3), f(3, 3))], None),
        "checkpoint": (Checkpointed(), [(f(2, 4),)], None),
        "set_grad": (GradInside(), [(f(2, 4),)], None),
        "autocast_off": (AutocastOff(), [(f(2, 4),)], None),
        "autocast_on": (AutocastOn(), [(f(2, 4), f(1, 2, 5))], None),
        "autocast_attention": (AutocastAttention(), [(f(1, 3, 8),)], None),
        "hints_wrapper": (Hints(), [(f(3), f(3))], None),
        "strict_mode": (Strict(), [(f(3),)], None),
        "nested_region": (NestedRegion(), [(f(3), f(3))], None),
    }


def main():
    warnings.simplefilter("ignore")
    folder = sys.argv[1]
    for name, (module, calls, shapes) in programs().items():
        if len(sys.argv) > 2 and name not in sys.argv[2:]:
            continue
        path = f"{folder}/{name}.pt2"
        fresh = copy.deepcopy(module).eval()
        try:
            export({"module": module, "calls": calls, "dynamic_shapes": shapes}, path)
            with torch.no_grad():
                program = torch.export.export(fresh, copy.deepcopy(calls[0]), dynamic_shapes=shapes)
            torch.export.save(program.run_decompositions(), f"{folder}/{name}.core.pt2")
        except Exception as error:  # noqa: BLE001
            print(f"{name}: {type(error).__name__}: {str(error)[:300]}")


if __name__ == "__main__":
    main()
