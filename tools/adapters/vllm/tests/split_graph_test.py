#!/usr/bin/env python3
"""Holds `--partition split-graph` against vLLM's own split_graph: split_graph_test.py GRAPHGATE.

Draws 200 graphs, writes them as graph text, and compares piece by piece: how many there are, which
hold split ops, and what each launches. Needs vLLM 0.18 or later, in the interpreter that the
environment variable GRAPHGATE_VLLM_PYTHON names; without one it is skipped (exit code 77).
"""

import json
import os
import random
import subprocess
import sys
import tempfile

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_ADAPTERS = os.path.dirname(os.path.dirname(_FOLDER))
_IS_INSIDE = "GRAPHGATE_SPLIT_GRAPH_TEST"
GRAPHS = 200
SEED = 33
# Whole passes over the program would change what is compared; each of them is tested elsewhere.
_PLAN = ["plan", "--json", "-", "--compiler", "eager", "--partition", "split-graph"]
_PASSES = [
    "drop_proven_assertions", "noop_elimination", "reinplace", "fuse_rms_norm",
    "fuse_add_rms_norm", "fuse_silu_mul", "fuse_norm_quant", "fuse_attention_quant", "dead_code",
]


def _skip(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def _enter():
    """Goes on in the interpreter that has vLLM."""
    if os.environ.get(_IS_INSIDE):
        return
    python = os.environ.get("GRAPHGATE_VLLM_PYTHON")
    if not python:
        _skip("GRAPHGATE_VLLM_PYTHON names no interpreter that has vLLM")
    environment = os.environ | {
        _IS_INSIDE: "1",
        "VLLM_TARGET_DEVICE": "cpu",
        "VLLM_LOGGING_LEVEL": "ERROR",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join(
            [os.path.join(_ADAPTERS, "common"), os.path.join(_ADAPTERS, "torch")]
        ),
    }
    os.execve(python, [python, os.path.abspath(__file__), *sys.argv[1:]], environment)


class Drawing:
    """Graph text of a program over tensors of eight numbers."""

    _SPLIT_OPS = ("aten.exp", "aten.sigmoid", "aten.sort", "aten.empty_like", "aten.view",
                  "aten.split", "aten.split.Tensor", "aten.fill_.Scalar", "aten.add",
                  "aten.neg.default")

    def __init__(self, genes):
        self._genes = genes
        self._values = ["x", "y"]
        self._lines = []
        self.split_ops = genes.sample(self._SPLIT_OPS, genes.randint(1, 3))
        for _ in range(genes.randint(3, 16)):
            self._draw()
        self._lines.append(f"output %{self._values[-1]}")
        self.text = 'program "p" {\n  input %x : f32[8]\n  input %y : f32[8]\n  ' + (
            "\n  ".join(self._lines) + "\n}\n"
        )

    def _value(self):
        return "%" + self._genes.choice(self._values[-4:] if self._genes.random() < 0.8 else
                                        self._values)

    def _add(self, call, results=1):
        name = f"v{len(self._lines)}"
        self._values.append(name)
        rest = "".join(f", %{name}_{i}" for i in range(1, results))
        self._lines.append(f"%{name}{rest} = {call}" + (f" as {name}" if results > 1 else ""))

    def _draw(self):
        kind = self._genes.randrange(11)
        if kind < 3:
            op = self._genes.choice(("relu", "neg", "abs"))
            self._add(f"aten.{op}.default({self._value()})")
        elif kind < 5:
            op = self._genes.choice(("exp", "sigmoid"))
            self._add(f"aten.{op}.default({self._value()})")
        elif kind == 5:
            self._add(f"aten.add.Tensor({self._value()}, {self._value()})")
        elif kind == 6:
            sizes = self._genes.choice(("[8]", "[2, 4]", "[4, 2]"))
            self._add(f"aten.view.default({self._value()}, {sizes})")
            if sizes != "[8]":
                self._add(f"aten.view.default(%{self._values.pop()}, [8])")
        elif kind == 7:
            self._add(f"aten.sort.default({self._value()})", results=2)
        elif kind == 8:
            name = f"v{len(self._lines)}"
            self._lines.append(f"(%{name}, %{name}_1) = aten.split.Tensor({self._value()}, 4) as {name}")
            self._lines.append(f"%{name}_c = aten.cat.default([%{name}_1, %{name}])")
            self._values.append(f"{name}_c")
        elif kind == 9:
            self._add(f"aten.empty_like.default({self._value()})")
            self._add(f"aten.fill_.Scalar(%{self._values[-1]}, 1.0)")
        else:
            self._add(f"aten.empty_like.default({self._value()})")
            self._add(f"aten.copy_.default(%{self._values[-1]}, {self._value()})")


def _pieces_of_vllm(text, split_ops):
    """For each piece in order: whether it holds split ops, and the names of its nodes."""
    import torch
    from vllm.compilation.backends import split_graph

    try:
        from graphgate_adapter import graph_text, module
    except ImportError:
        from graphgate_torch import graph_text, module

    graph = graph_text.parse(text)
    built = module.build(graph, {}, module.Devices(graph, "cpu"))
    import operator

    names = iter(node.name for node in graph.nodes)
    for node in built.graph.nodes:
        is_item = node.op == "call_function" and node.target is operator.getitem
        if node.op == "call_function" and not is_item:
            node.meta["graphgate"] = next(names)
    assert next(names, None) is None
    as_vllm = [name.replace(".", "::", 1) for name in split_ops]
    assert isinstance(built, torch.fx.GraphModule)
    _, items = split_graph(built, as_vllm)
    return [
        (item.is_splitting_graph,
         [node.meta["graphgate"] for node in item.graph.graph.nodes
          if node.op == "call_function" and "graphgate" in node.meta])
        for item in items
    ]


def _pieces_of_graphgate(graphgate, path, split_ops):
    """The same of the plan, with the names of what is launched."""
    command = [graphgate, *_PLAN]
    for name in _PASSES:
        command += ["--no-pass", name]
    for name in split_ops:
        command += ["--split-op", name]
    done = subprocess.run([*command, path], capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}: {done.stderr}{done.stdout}")
    plan = json.loads(done.stdout)
    names = [step["name"] for step in plan["steps"]]
    return [
        ("split op" in each["reason"], names[each["begin_step"]:each["end_step"]])
        for each in plan["blocks"][0]["partitions"]
    ]


def main():
    _enter()
    graphgate = sys.argv[1]
    genes = random.Random(SEED)
    counts = {"pieces": 0, "split": 0, "views alone": 0, "launches": 0}
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for number in range(GRAPHS):
            drawing = Drawing(genes)
            path = os.path.join(folder, "p.txt")
            with open(path, "w") as file:
                file.write(drawing.text)
            theirs = _pieces_of_vllm(drawing.text, drawing.split_ops)
            ours = _pieces_of_graphgate(graphgate, path, drawing.split_ops)
            launched = {name for _, names in ours for name in names}
            expected = [(is_split, [n for n in names if n in launched])
                        for is_split, names in theirs]
            counts["pieces"] += len(theirs)
            counts["split"] += sum(is_split for is_split, _ in theirs)
            counts["views alone"] += sum(not names for _, names in expected)
            counts["launches"] += len(launched)
            if ours != expected:
                wrong += 1
                print(f"graph {number}, split ops {drawing.split_ops}\n{drawing.text}"
                      f"vLLM:      {theirs}\ngraphgate: {ours}")
    print(f"{GRAPHS} graphs, " + ", ".join(f"{count} {name}" for name, count in counts.items()))
    # A comparison of nothing is none.
    if min(counts.values()) < 20:
        print("too little was compared")
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
