#!/usr/bin/env python3
"""A planner of forty lines: first fit, largest first. planner.py [--mistake] > plan.json

With --mistake a value is taken for dead one step before its last reader.
"""

import json
import sys

INPUTS = [("w1", "parameter", [16, 32]), ("w2", "parameter", [32, 16]), ("x", "user", [8, 16])]
STEPS = [  # what mlp.txt says: the value, its op, its operands by the names of their arguments, its sizes
    ("h", "aten.mm.default", {"self": "x", "mat2": "w1"}, [8, 32]),
    ("r", "aten.relu.default", {"self": "h"}, [8, 32]),
    ("s", "aten.sigmoid.default", {"self": "r"}, [8, 32]),
    ("m", "aten.mul.Tensor", {"self": "r", "other": "s"}, [8, 32]),
    ("y", "aten.mm.default", {"self": "m", "mat2": "w2"}, [8, 16]),
    ("z", "aten.add.Tensor", {"self": "y", "other": "x"}, [8, 16]),
]
OUTPUT = "z"


def size(sizes):
    return 4 * sizes[0] * sizes[1]  # bytes of float32


def last_use(value, made_at, mistake):
    if value == OUTPUT:
        return len(STEPS)
    last = max(i for i, (_, _, operands, _) in enumerate(STEPS) if value in operands.values())
    return max(made_at, last - mistake)


def place(mistake):
    """{value: offset}, and the size of the arena."""
    lives = {v: (i, last_use(v, i, mistake), size(sizes)) for i, (v, _, _, sizes) in enumerate(STEPS)}
    offsets = {}
    for value in sorted(lives, key=lambda v: -lives[v][2]):
        begin, end, room = lives[value]
        taken = sorted((offsets[v], offsets[v] + lives[v][2]) for v in offsets
                       if lives[v][0] <= end and begin <= lives[v][1])
        offset = 0
        for low, high in taken:
            if offset + room > low:
                offset = max(offset, high)
        offsets[value] = offset
    return offsets, max(offsets[v] + lives[v][2] for v in offsets)


def plan(mistake):
    offsets, arena = place(mistake)
    pools = [{"name": "arena", "kind": "arena", "device": "cpu", "size_bytes": arena, "alignment_bytes": 64}]
    buffers, values = [], []
    for name, kind, sizes in INPUTS:  # each in a pool of its own: they are not ours to place
        pool = {"name": f"of_{name}", "kind": "input" if kind == "user" else "state", "device": "cpu"}
        pools.append(pool | {"size_bytes": size(sizes), "alignment_bytes": 64})
        buffers.append({"name": name, "pool": f"of_{name}", "offset_bytes": 0, "size_bytes": size(sizes)})
    for name, _, _, sizes in STEPS:
        buffers.append({"name": name, "pool": "arena", "offset_bytes": offsets[name], "size_bytes": size(sizes)})
    for name, *_, sizes in [*INPUTS, *STEPS]:
        values.append({"name": name, "type": {"dtype": "f32", "sizes": sizes}, "buffer": name})
    steps = [{"name": name, "op": op, "results": [name],
              "arguments": [{"name": argument, "argument": {"value": value}} for argument, value in operands.items()]}
             for name, op, operands, _ in STEPS]
    partition = {"captured": False, "reason": "it runs op by op", "begin_step": 0, "end_step": len(STEPS),
                 "constants": ["w1", "w2"],
                 "inputs": [{"buffer": "x"}], "outputs": ["x", OUTPUT]}
    outputs = [{"value": OUTPUT}]
    return {"graphgate_plan": 1, "name": "mlp", "pools": pools, "buffers": buffers, "values": values,
            "inputs": [{"kind": kind, "target": name, "value": name} for name, kind, _ in INPUTS],
            "steps": steps, "blocks": [{"name": "main", "partitions": [partition], "outputs": outputs}],
            "outputs": outputs}


json.dump(plan(mistake="--mistake" in sys.argv), sys.stdout, indent=1)
