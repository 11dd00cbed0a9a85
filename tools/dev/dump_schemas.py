#!/usr/bin/env python3
"""Writes spec/ops/aten.txt (see spec/op_table.h for the format) from a PyTorch installation.

Two kinds of sources choose the ops:
  --rows FILE    JSON object from "aten.add.Tensor" to {"schema": STRING, "tags": [STRING...]}.
                 These rows are taken as they stand. May be repeated.
  --names FILE   any text that names ops as `aten.NAME.OVERLOAD`, with or without `torch.ops.`
                 before it (a count of ops, a file of op cases, a model.json). May be repeated.
                 Each overload that it names is taken.
Of every family met in either, all other overloads follow (in-place and out= forms included) that
work on tensors and have no complex or Dimname argument.
  --namespace NS take every tensor op of that namespace instead (for example _c10d_functional).
  --import MODULE  import it first: the one that registers the namespace's ops, where `torch` does
                 not (quantized_decomposed: torch.ao.quantization.fx._decomposed).

    python tools/dev/dump_schemas.py --rows schemas.json --names op_cases.jsonl > spec/ops/aten.txt

Needs only `torch`. The result is sorted and depends on the PyTorch version, which the header names.
"""

import argparse
import importlib
import json
import pathlib
import re
import sys

import torch

OP_NAME = re.compile(r"\baten\.(\w+)(?:\.(\w+))?")

# Ops whose result may share storage with an argument though the schema has no alias set. Found by
# calling every op of the table without alias sets on small tensors and comparing storages.
UNDECLARED_ALIASES = {
    "aten._unsafe_view.default": "self",
    "aten.conj_physical.default": "self",  # of a real tensor
    "aten.dropout.default": "input",  # out of training
    "aten.einsum.default": "tensors",  # of one operand: a permutation
    "aten.histogramdd.TensorList_bins": "bins",  # the edges are the bins
    "aten.type_as.default": "self",  # of the same dtype
    "aten.unsafe_split.Tensor": "self",
    "aten.unsafe_split_with_sizes.default": "self",
}

# Ops that write tensor arguments though the schema has no `!`: training updates the running statistics.
RUNNING_STATISTICS = "running_mean,running_var"
UNDECLARED_WRITES = {
    "aten.batch_norm.default": RUNNING_STATISTICS,
    "aten.native_batch_norm.default": RUNNING_STATISTICS,
    "aten.native_batch_norm.out": RUNNING_STATISTICS,
}

# Base names of aliases and of the ops that they are.
ALIAS_LINE = re.compile(r'Synonym\{"(\w+\.\w+)", "(\w+\.\w+)"\}')
ALIASES_FILE = pathlib.Path(__file__).parents[2] / "reference/ops/synonyms.cpp"


def aliases():
    """{"aten.absolute": "aten.abs"} of the ops that are others under a further name."""
    return dict(ALIAS_LINE.findall(ALIASES_FILE.read_text(encoding="utf-8")))


def tag_aliases(rows, registered):
    """Gives each alias the tag pointwise of its op: PyTorch gives it to some of them alone."""
    ops = aliases()
    for name, (schema, tags) in rows.items():
        ns, op, overload = name.split(".")
        original = ops.get(f"{ns}.{base_name(op)}")
        if original is None or "pointwise" in tags:
            continue
        same = [f"{original}.{overload}", f"{original}_.{overload}"]
        ops_rows = [registered[one] for one in same if one in registered] or [
            row for one, row in registered.items() if one.startswith(original + ".")
        ]  # xlogy's overloads have other names than special_xlogy's
        if any("pointwise" in row_of(row)[1] for row in ops_rows):
            rows[name] = (schema, sorted([*tags, "pointwise"]))


def overloads(namespace):
    """{"aten.add.Tensor": OpOverload} of everything registered with the dispatcher."""
    found = {}
    for full_name in torch._C._dispatch_get_all_op_names():
        ns, _, rest = full_name.partition("::")
        if ns != namespace:
            continue
        name, _, overload = rest.partition(".")
        try:
            op = getattr(getattr(getattr(torch.ops, ns), name), overload or "default")
        except AttributeError:
            continue  # registered without a schema
        found[f"{ns}.{name}.{overload or 'default'}"] = op
    return found


def row_of(op):
    return str(op._schema), sorted(tag.name for tag in op.tags)


def is_usual(op):
    """Works on tensors, and is no complex or Dimname variant."""
    types = [str(arg.type) for arg in op._schema.arguments]
    types += [str(result.type) for result in op._schema.returns]
    unusual = "Dimname" in op._overloadname or "names" in op._overloadname
    return (
        any("Tensor" in t for t in types) and not any("complex" in t for t in types) and not unusual
    )


def base_name(name):
    return name[:-1] if name.endswith("_") and not name.endswith("__") else name


def choose(registered, row_files, name_files):
    rows, named = {}, set()
    for path in row_files:
        with open(path, encoding="utf-8") as file:
            for name, row in json.load(file).items():
                rows[name] = (row["schema"], sorted(row["tags"]))
    for path in name_files:
        with open(path, encoding="utf-8") as file:
            named |= {(m[1], m[2] or "default") for m in OP_NAME.finditer(file.read())}
    families = {base_name(name.split(".")[1]) for name in rows}
    families |= {base_name(name) for name, _ in named}
    exact = {f"aten.{name}.{overload}" for name, overload in named}
    for name, op in registered.items():
        in_family = base_name(name.split(".")[1]) in families and is_usual(op)
        if name not in rows and (name in exact or in_family):
            rows[name] = row_of(op)
    missing = sorted(exact - set(rows))
    if missing:
        print("named but not registered: " + ", ".join(missing), file=sys.stderr)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", action="append", default=[])
    parser.add_argument("--names", action="append", default=[])
    parser.add_argument("--namespace")
    parser.add_argument("--import", dest="module")
    options = parser.parse_args()

    if options.module:
        importlib.import_module(options.module)
    if options.namespace:
        ops = overloads(options.namespace)
        rows = {name: row_of(op) for name, op in ops.items() if is_usual(op)}
    else:
        registered = overloads("aten")
        rows = choose(registered, options.rows, options.names)
        tag_aliases(rows, registered)
    version = torch.__version__.partition("+")[0]
    print(f"# Op schemas and tags of PyTorch {version}, by tools/dev/dump_schemas.py. Sorted.")
    print(
        "# Aliases have the tag pointwise of the op that they are, "
        "which PyTorch gives some of them alone."
    )
    for name in sorted(rows):
        schema, tags = rows[name]
        line = schema + (" ; tags=" + ",".join(tags) if tags else "")
        if name in UNDECLARED_ALIASES:
            line += " ; undeclared_aliases=" + UNDECLARED_ALIASES[name]
        if name in UNDECLARED_WRITES:
            line += " ; undeclared_writes=" + UNDECLARED_WRITES[name]
        print(line)


if __name__ == "__main__":
    main()
