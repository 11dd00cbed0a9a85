#!/usr/bin/env python3
"""Makes golden/bad: small broken inputs, each from a good one by one change.

    make_bad_inputs.py MODELS_DIR OUT_DIR

MODELS_DIR is golden/models. What the reader must say of each file stands in OUT_DIR/EXPECTED.txt
(FILE, a tab, the message). This script does not write it: a new file needs a new line there, read
and agreed with by a person. Standard library only.
"""

import copy
import io
import json
import pathlib
import struct
import sys
import zipfile

DATE = (1980, 1, 1, 0, 0, 0)


def load(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def pack(entries, method=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in entries.items():
            archive.writestr(zipfile.ZipInfo(name, DATE), data, method)
    return out.getvalue()


def with_model(entries, change):
    """The archive with its program's JSON changed in place by `change(model, graph)`."""
    entries = copy.copy(entries)
    name = next(name for name in entries if name.endswith("models/model.json"))
    model = json.loads(entries[name])
    change(model, model["graph_module"]["graph"])
    entries[name] = json.dumps(model).encode()
    return pack(entries)


def with_text(entries, suffix, data):
    entries = copy.copy(entries)
    name = next(name for name in entries if name.endswith(suffix))
    if data is None:
        del entries[name]
    else:
        entries[name] = data
    return pack(entries)


def with_weights(entries, change):
    name = next(name for name in entries if name.endswith("model_weights_config.json"))
    config = json.loads(entries[name])
    change(config["config"])
    return with_text(entries, "model_weights_config.json", json.dumps(config).encode())


def set_at(*path_and_value):
    """A change that sets graph[path...] = value."""
    *path, key, value = path_and_value

    def change(model, graph):
        place = graph
        for step in path:
            place = place[step]
        place[key] = value

    return change


def swap_nodes(model, graph):
    graph["nodes"][0], graph["nodes"][1] = graph["nodes"][1], graph["nodes"][0]


def make_cycle(model, graph):
    graph["nodes"][0]["inputs"][0]["arg"] = {"as_tensor": {"name": "add"}}


def repeat_node(model, graph):
    graph["nodes"].append(copy.deepcopy(graph["nodes"][0]))


def same_value_twice(model, graph):
    graph["nodes"][1]["outputs"] = copy.deepcopy(graph["nodes"][0]["outputs"])


def drop_spec(model, graph):
    model["graph_module"]["signature"]["output_specs"].pop()


def rename_spec(model, graph):
    spec = model["graph_module"]["signature"]["input_specs"][0]
    spec["user_input"]["arg"]["as_tensor"]["name"] = "y"


def bad_mutation(model, graph):
    for spec in model["graph_module"]["signature"]["output_specs"]:
        if "buffer_mutation" in spec:
            spec["buffer_mutation"]["buffer_name"] = "nobody"


def token_input(model, graph):
    specs = model["graph_module"]["signature"]["input_specs"]
    specs[0] = {"token": {"arg": {"name": "x"}}}


def nest_graphs(model, graph):
    inner = json.dumps({**graph, "nodes": []})
    for level in range(60):
        node = {"target": "torch.ops.higher_order.cond", "name": f"n{level}", "metadata": {},
                "outputs": [], "inputs": [{"name": "", "arg": {"as_graph": {
                    "name": f"g{level}", "graph": "INNER"}}}]}
        inner = json.dumps({**graph, "nodes": [node]}).replace('"INNER"', inner)
    graph.update(json.loads(inner))


def bomb(entries):
    """A deflated program that claims a thousand times the archive."""
    entries = copy.copy(entries)
    name = next(name for name in entries if name.endswith("models/model.json"))
    entries = {name: b" " * 20_000_000}
    return pack(entries, zipfile.ZIP_DEFLATED)


def safetensors(header, data_bytes):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(data_bytes)


def main():
    models, out = map(pathlib.Path, sys.argv[1:3])
    cond = load(models / "cond_nonzero.pt2")
    state = load(models / "mutations.core.pt2")
    model_text = next(d for n, d in cond.items() if n.endswith("models/model.json"))
    whole = pack(cond)
    x = ("tensor_values", "x")
    expr = lambda text: {"as_expr": {"expr_str": text, "hint": None}}  # noqa: E731
    first = ("nodes", 0)
    files = {
        "empty.pt2": b"",
        "no_zip.pt2": b"this is no zip archive",
        "truncated.pt2": whole[: len(whole) // 2],
        "bad_crc.pt2": whole.replace(b'"graph_module"', b'"graph_modulf"', 1),
        "no_model.pt2": with_text(cond, "models/model.json", None),
        "no_weights_config.pt2": with_text(cond, "model_weights_config.json", None),
        "no_weight.pt2": with_text(state, "weights/weight_0", None),
        "big_endian.pt2": with_text(cond, "byteorder", b"big"),
        "zip_bomb.pt2": bomb(cond),
        "json_syntax.pt2": with_text(cond, "models/model.json", model_text[:300] + b"]"),
        "json_truncated.pt2": with_text(cond, "models/model.json", model_text[:3000]),
        "json_deep.pt2": with_text(cond, "models/model.json", b"[" * 100_000),
        "json_no_utf8.pt2": with_text(cond, "models/model.json", b'{"a": "\xff"}'),
        "json_array.pt2": with_text(cond, "models/model.json", b"[1, 2]"),
        "json_number.pt2": with_text(cond, "models/model.json", b"7"),
        "schema_major.pt2": with_model(cond, lambda m, g: m["schema_version"].update(major=9)),
        "no_version.pt2": with_model(cond, lambda m, g: m.pop("schema_version")),
        "no_graph.pt2": with_model(cond, lambda m, g: m["graph_module"].pop("graph")),
        "no_nodes.pt2": with_model(cond, lambda m, g: g.pop("nodes")),
        "nodes_object.pt2": with_model(cond, set_at("nodes", {"a": {}})),
        "nodes_number.pt2": with_model(cond, set_at("nodes", 3)),
        "arg_number.pt2": with_model(cond, set_at(*first, "inputs", 0, "arg", 5)),
        "arg_unknown.pt2": with_model(cond, set_at(*first, "inputs", 0, "arg", {"as_x": 1})),
        "arg_two_kinds.pt2": with_model(
            cond, set_at(*first, "inputs", 0, "arg", {"as_int": 1, "as_bool": True})),
        "arg_complex.pt2": with_model(
            cond, set_at(*first, "inputs", 0, "arg", {"as_complex": {"real": 1}})),
        "arg_dtype.pt2": with_model(
            cond, set_at(*first, "inputs", 0, "arg", {"as_scalar_type": 77})),
        "arg_big_int.pt2": with_model(
            cond, set_at(*first, "inputs", 0, "arg", {"as_int": 2**63})),
        "target_number.pt2": with_model(cond, set_at(*first, "target", 1)),
        "unknown_value.pt2": with_model(
            cond, set_at(*first, "inputs", 0, "arg", {"as_tensor": {"name": "nobody"}})),
        "use_before_definition.pt2": with_model(cond, swap_nodes),
        "cycle.pt2": with_model(cond, make_cycle),
        "node_twice.pt2": with_model(cond, repeat_node),
        "value_twice.pt2": with_model(cond, same_value_twice),
        "no_type.pt2": with_model(cond, lambda m, g: g["tensor_values"].pop("add")),
        "dtype_unknown.pt2": with_model(cond, set_at(*x, "dtype", 99)),
        "dtype_complex.pt2": with_model(cond, set_at(*x, "dtype", 9)),
        "layout_sparse.pt2": with_model(cond, set_at(*x, "layout", 1)),
        "size_huge.pt2": with_model(cond, set_at(*x, "sizes", 0, {"as_int": 2**60})),
        "size_negative.pt2": with_model(cond, set_at(*x, "sizes", 0, {"as_int": -4})),
        "offset_negative.pt2": with_model(cond, set_at(*x, "storage_offset", {"as_int": -1})),
        "strides_short.pt2": with_model(cond, set_at(*x, "strides", [{"as_int": 1}])),
        "expr_unknown.pt2": with_model(cond, set_at(*x, "sizes", 0, expr("Zeta(Integer(1))"))),
        "expr_broken.pt2": with_model(cond, set_at(*x, "sizes", 0, expr("Mul(Integer(2),"))),
        "expr_deep.pt2": with_model(cond, set_at(*x, "sizes", 0, expr("Not(" * 5000))),
        "graphs_deep.pt2": with_model(cond, nest_graphs),
        "range_empty.pt2": with_model(
            cond, lambda m, g: m["range_constraints"].update(u0={"min_val": 5, "max_val": 2})),
        "specs_short.pt2": with_model(cond, drop_spec),
        "spec_other_name.pt2": with_model(cond, rename_spec),
        "spec_token.pt2": with_model(cond, token_input),
        "mutates_nobody.pt2": with_model(state, bad_mutation),
        "weight_pickled.pt2": with_weights(
            state, lambda c: next(iter(c.values())).update(use_pickle=True)),
        "weight_missing.pt2": with_weights(state, lambda c: c.pop(next(iter(c)))),
        "weight_outside.pt2": with_weights(
            state, lambda c: next(iter(c.values()))["tensor_meta"].update(
                storage_offset={"as_int": 5})),
        "weight_other_sizes.pt2": with_weights(
            state, lambda c: next(iter(c.values()))["tensor_meta"].update(
                sizes=[{"as_int": 1}], strides=[{"as_int": 1}])),
        "weight_dtype.pt2": with_weights(
            state, lambda c: next(iter(c.values()))["tensor_meta"].update(dtype=0)),
        "short.safetensors": b"\x01\x02",
        "header_long.safetensors": struct.pack("<Q", 2**40) + b"{}",
        "header_syntax.safetensors": safetensors(b'{"a": }', 0),
        "size_lie.safetensors": safetensors(
            {"a": {"dtype": "F32", "shape": [2**60], "data_offsets": [0, 4]}}, 4),
        "offset_lie.safetensors": safetensors(
            {"a": {"dtype": "F32", "shape": [1], "data_offsets": [-4, 0]}}, 4),
        "overlap.safetensors": safetensors(
            {"a": {"dtype": "I8", "shape": [4], "data_offsets": [0, 4]},
             "b": {"dtype": "I8", "shape": [4], "data_offsets": [2, 6]}}, 6),
        "dtype.safetensors": safetensors(
            {"a": {"dtype": "U32", "shape": [1], "data_offsets": [0, 4]}}, 4),
    }
    out.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (out / name).write_bytes(data)
    print(f"{len(files)} files, {sum(map(len, files.values()))} bytes")


if __name__ == "__main__":
    main()
