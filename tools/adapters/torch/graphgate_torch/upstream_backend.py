"""Stores what this version of Inductor decides for every graph that is compiled, and runs none of it.

Each graph is NAME.pt2, the graph of ATen ops that Inductor's lowering is given, and NAME.json, what
the version decides for it: as it is, and with some ops that cut it (docs/upstream_check.md).
"""

import contextlib
import copy
import functools
import hashlib
import json
import operator
import os
import random
import re
import sys

import torch
from torch._inductor import compile_fx

from graphgate_adapter import errors
from graphgate_torch import backends, capture, recording
from graphgate_torch.upstream_decisions import Deciding

# What is never captured, whatever a case names beside it: as the planner has it.
_SPLIT_OP = "vllm.unified_attention_with_output"
# By how many kinds of ops each graph is cut, beside those that the case names, and beside not at all.
_CUTS = (2, 4)
_GPU = re.compile(r"\bcuda(:\d+)?\b")


def _called(module):
    """The overloads that the module's graph calls, in their order."""
    return list(dict.fromkeys(
        node.target for node in module.graph.nodes
        if node.op == "call_function" and isinstance(node.target, torch._ops.OpOverload)
    ))


def _can_be_opaque(op):
    """Whether a kernel that nobody knows can stand for the op: it makes tensors, and no views."""
    schema = op._schema
    return (
        not schema.is_mutable
        and op.namespace in ("aten", "prims")
        and not any(each.alias_info for each in [*schema.arguments, *schema.returns])
        and all(str(each.type) == "Tensor" for each in schema.returns)
        and bool(schema.returns)
    )


def _row(op):
    """The op as graphgate's table has it (docs/formats.md, "Op table")."""
    is_unsafe = torch._C.Tag.cudagraph_unsafe in op.tags
    return str(op._schema) + (" ; tags=cudagraph_unsafe" if is_unsafe else "")


def _nodes(module):
    """Names of the nodes, in their order in the archive, which does not keep them in all versions."""
    return [
        node.name for node in module.graph.nodes
        if node.op == "call_function" and node.target is not operator.getitem
    ]


def _is_named(op, names):
    """Whether a list of split ops names the overload: "ns.op" or "ns.op.overload"."""
    return str(op) in names or str(op).rpartition(".")[0] in names


class Upstream(backends.Eager):
    """Computes what eager mode computes. `folder` of the settings is where decisions go."""

    compiles = True
    options = backends.Compile.options

    def __init__(self, settings, joins_kernels=True):
        if not settings.get("folder"):
            print("graphgate_torch: --backend upstream needs --set folder=FOLDER", file=sys.stderr)
            sys.exit(4)
        self._folder = str(settings["folder"])
        os.makedirs(self._folder, exist_ok=True)
        torch._dynamo.config.capture_scalar_outputs = True
        torch._dynamo.config.capture_dynamic_output_shape_ops = True
        torch._dynamo.config.recompile_limit = 64

    def compile(self, module, options):
        named = [_SPLIT_OP, *(name for name in options.get("split-op", "").split(",") if name)]
        note = functools.partial(self._note, named)
        return torch.compile(module, backend=note)

    @contextlib.contextmanager
    def watch(self):
        class Nothing:
            graphs, reasons = [], []

        yield Nothing()

    def _note(self, split_ops, module, inputs):
        inner = functools.partial(self._inner, split_ops)
        try:
            compile_fx.compile_fx(copy.deepcopy(module), inputs, inner_compile=inner)
        except Exception as error:
            if not _is_noted(error):
                self._refuse(module, error)
        return module.forward

    def _inner(self, split_ops, module, inputs, **named):
        own = [op for op in _called(module) if _is_named(op, split_ops) and _can_be_opaque(op)]
        decide = functools.partial(self._decide, module, inputs, named, split_ops)
        first = decide(own)
        name = hashlib.sha256("\n".join([_key(first.module), *split_ops]).encode()).hexdigest()[:16]
        base = os.path.join(self._folder, name)
        if os.path.exists(base + ".json"):
            raise Noted
        recording.save_program(capture.exported(first.module), base + ".pt2")
        genes = random.Random(name)
        ops = [op for op in _called(first.module) if _can_be_opaque(op) and op not in own]
        variants = [_variant(split_ops, first)]
        tried = {frozenset()}
        for count in _CUTS:
            chosen = genes.sample(ops, min(count, len(ops)))
            if frozenset(chosen) in tried:
                continue
            tried.add(frozenset(chosen))
            cuts = [*split_ops, *map(str, chosen)]
            try:
                variants.append(_variant(cuts, decide([*own, *chosen])))
            except Exception as error:
                variants.append({"split_ops": cuts, "error": errors.words_of(error)})
        _write(base + ".json", {
            "variants": variants,
            "ops": [_row(op) for op in _called(first.module)],
            "nodes": _nodes(first.module),
            "inputs": [n.name for n in first.module.graph.nodes if n.op == "placeholder"],
        })
        raise Noted

    @staticmethod
    def _decide(module, inputs, named, split_ops, opaque):
        with Deciding([name.replace(".", "::", 1) for name in split_ops], opaque) as deciding:
            try:
                compile_fx.compile_fx_inner(copy.deepcopy(module), inputs, **named)
            except Exception:
                if deciding.decided is None:
                    raise
        return deciding

    def _refuse(self, module, error):
        name = hashlib.sha256(str(module.graph).encode()).hexdigest()[:16]
        _write(os.path.join(self._folder, name + ".refused"), {"error": errors.words_of(error)})


class Noted(Exception):
    """All that is to be known of the graph was noted."""


def _is_noted(error):
    while error is not None:
        if isinstance(error, Noted):
            return True
        error = error.__cause__ or error.__context__
    return False


def _key(module):
    """What two graphs have in common that are one, be it on two devices."""
    lines = [_GPU.sub("cpu", str(module.graph))]
    for node in module.graph.nodes:
        value = node.meta.get("val")
        for each in torch.utils._pytree.tree_leaves(value):
            if isinstance(each, torch.Tensor):
                lines.append(f"{node.name} {each.dtype} {list(each.shape)} {each.stride()}")
    return "\n".join(lines)


def _variant(split_ops, deciding):
    return {"split_ops": split_ops, "decided": deciding.decided}


def _write(path, content):
    with open(path + ".part", "w", encoding="utf-8") as file:
        json.dump(content, file)
    os.replace(path + ".part", path)
