#!/usr/bin/env python3
"""Holds vLLM's ops of spec/ops/custom.txt against vLLM's own native code: ops_test.py GRAPHGATE.

With --record FILE.jsonl the calls are written there instead, as golden/ops/vllm_cases.jsonl holds
them.

Calls of each op are drawn, computed by the native implementation of an installed vLLM, and written
as recorded op calls (docs/formats.md); `graphgate ops --cases` judges the reference and the
optimized executor by them. Needs vLLM 0.33 in the interpreter that the environment variable
GRAPHGATE_VLLM_PYTHON names; without one it is skipped (exit code 77).
"""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_TOOLS = os.path.dirname(os.path.dirname(os.path.dirname(_FOLDER)))
_IS_INSIDE = "GRAPHGATE_VLLM_OPS_TEST"


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
    }
    os.execve(python, [python, os.path.abspath(__file__), *sys.argv[1:]], environment)


def _recorder():
    path = os.path.join(_TOOLS, "dev", "record_op_cases.py")
    spec = importlib.util.spec_from_file_location("record_op_cases", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Calls:
    """The calls, as they are written."""

    def __init__(self, form):
        self._form = form
        self.lines = []
        self.tensors = {}
        self.by_op = {}

    def add(self, op, args, returned, **mutated):
        """`args` as they are before the call; `mutated`: what written arguments hold behind it."""
        number = len(self.lines)
        before, after = self._form.Form(), self._form.Form()
        line = {"case": number, "op": op, "args": [before.value(arg) for arg in args], "kwargs": {}}
        line["result"] = after.value(returned)
        line["mutated"] = {}
        for name, tensor in mutated.items():
            changed = self._form.Form().tensor(tensor)
            changed["tensor"]["storage"] = name
            line["mutated"][name] = changed
            self.tensors[f"{number}.mut.{name}"] = self._form.bytes_of(tensor)
        self.tensors.update({f"{number}.in{s}": data for s, data in before.data.items()})
        self.tensors.update({f"{number}.out{s}": data for s, data in after.data.items()})
        self.lines.append(json.dumps(line))
        self.by_op[op] = self.by_op.get(op, 0) + 1


def _draw(calls):
    import torch
    from vllm.ir.ops import layernorm
    from vllm.model_executor.layers.activation import SiluAndMul
    from vllm.model_executor.layers.rotary_embedding.base import RotaryEmbedding

    def native(op):
        """The decomposition that vLLM registers first for an op of its IR."""
        return op.impls["native"].impl_fn

    norm, add_norm = native(layernorm.rms_norm), native(layernorm.fused_add_rms_norm)
    torch.manual_seed(33)
    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        for sizes in ((3, 8), (2, 5, 64), (1, 300)):
            width = sizes[-1]
            for weight in (torch.randn(width, dtype=dtype), None, torch.randn(width)):
                for spread in (None, width // 2):
                    x, r = torch.randn(sizes, dtype=dtype), torch.randn(sizes, dtype=dtype)
                    calls.add("vllm_ir.rms_norm.default", (x, weight, 1e-5, spread),
                              norm(x, weight, 1e-5, spread))
                    calls.add("vllm_ir.fused_add_rms_norm.default", (x, r, weight, 1e-5, spread),
                              list(add_norm(x, r, weight, 1e-5, spread)))
                    if spread is None:
                        calls.add("_C.rms_norm.default",
                                  (torch.zeros(sizes, dtype=dtype), x, weight, 1e-5), None,
                                  result=norm(x, weight, 1e-5))
            x = torch.randn((*sizes[:-1], 2 * width), dtype=dtype)
            calls.add("_C.silu_and_mul.default", (torch.zeros(sizes, dtype=dtype), x), None,
                      result=SiluAndMul.forward_native(x))
        for is_neox in (True, False):
            for rotary, heads, has_key in ((8, 2, True), (4, 3, True), (8, 1, False)):
                cache = torch.randn(16, rotary, dtype=dtype)
                positions = torch.tensor([3, 0, 15, 7, 7])
                query = torch.randn(5, heads * 8, dtype=dtype)
                key = torch.randn(5, 8, dtype=dtype) if has_key else None
                turned, turned_key = RotaryEmbedding.forward_static(
                    positions, query, key, 8, rotary, cache, is_neox
                )
                written = {"query": turned} | ({"key": turned_key} if has_key else {})
                calls.add("_C.rotary_embedding.default",
                          (positions, query, key, 8, cache, is_neox), None, **written)


def _write(calls, path):
    from safetensors.torch import save_file

    with open(path, "w") as file:
        file.write("\n".join(calls.lines) + "\n")
    save_file(calls.tensors, path.removesuffix(".jsonl") + ".safetensors")


def main():
    _enter()
    calls = Calls(_recorder())
    _draw(calls)
    if sys.argv[1] == "--record":
        _write(calls, sys.argv[2])
        return 0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "calls.jsonl")
        _write(calls, path)
        codes = []
        for executor in ("reference", "optimized"):
            command = [sys.argv[1], "ops", "--cases", path, "--executor", executor]
            done = subprocess.run(command, capture_output=True, text=True)
            print(done.stdout[-3000:] + done.stderr[-2000:])
            judged_all = f"{len(calls.lines)} passed, 0 failed, 0 skipped" in done.stdout
            codes.append(done.returncode or not judged_all)
    print(", ".join(f"{count} calls of {op}" for op, count in sorted(calls.by_op.items())))
    # A comparison of nothing is none.
    if len(calls.by_op) < 5 or min(calls.by_op.values()) < 5:
        print("too little was compared")
        return 1
    return 1 if any(codes) else 0


if __name__ == "__main__":
    sys.exit(main())
