#!/usr/bin/env python3
"""The least that an executor for graphgate is: it adds and multiplies float32 tensors (docs/executors.md).

It refuses as unsupported what it does not take: states, views, broadcasting, and all other ops. No judge holds that
against it. A tensor is a pair: its memory, an array of float32, and its sizes.
"""
import array
import itertools
import json
import math
import operator
import os
import pathlib
import re
import shutil
import sys

# A line of graph text (docs/formats.md).
LINE = re.compile(r"input %(?P<input>\w+) : .*|output %(?P<output>\w+)|symbol .*|"
                  r"%(?P<to>\w+) : .* = aten\.(?P<op>add|mul)\.Tensor\(%(?P<a>\w+), %(?P<b>\w+)\)")
COUNT, PROGRAMS = itertools.count(), []


def refuse(what):
    raise ValueError(f"the example does not know {what}")


def strides(sizes):
    return [math.prod(sizes[i + 1:]) for i in range(len(sizes))]


def run(lines, inputs):
    values = dict(zip((line["input"] for line in lines if line["input"]), inputs))
    for line in lines:
        if line["op"]:
            (a, sizes), (b, others) = values[line["a"]], values[line["b"]]
            if sizes != others:
                refuse("how to broadcast")
            values[line["to"]] = array.array("f", map(getattr(operator, line["op"]), a, b)), sizes
    return [values[line["output"]] for line in lines if line["output"]]


def taken(value, memories):  # a tensor of a request
    said = value.get("tensor") or refuse("inputs that are numbers")
    memory, sizes, offset = memories[said["storage"]], said["sizes"], said.get("storage_offset", 0)
    if said["dtype"] != "float32" or (len(memory), said["strides"], offset) != (math.prod(sizes), strides(sizes), 0):
        refuse("views, and dtypes but float32")
    return memory, sizes


def told(memory, sizes, sent):  # a tensor of the answer: those that share memory have one storage
    number = next((i for i, each in enumerate(sent) if each is memory), len(sent))
    sent[number:] = sent[number:] or [memory]
    return {"tensor": {"storage": number, "dtype": "float32", "sizes": sizes, "strides": strides(sizes), "device": "cpu"}}


def read(folder, storages):  # what is in them, from a file that is safetensors; the reader of a folder removes it
    data = pathlib.Path(folder, "tensors.safetensors").read_bytes()
    begin = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:begin])
    shutil.rmtree(folder)
    return [array.array("f", data[begin:][slice(*header[name]["data_offsets"])]) for name in storages]


def write(folder, sent):
    ends = [0, *itertools.accumulate(4 * len(memory) for memory in sent)]
    header = json.dumps({str(i): {"dtype": "U8", "shape": [end - begin], "data_offsets": [begin, end]}
                         for i, (begin, end) in enumerate(itertools.pairwise(ends))}).encode()
    os.mkdir(folder)
    pathlib.Path(folder, "tensors.safetensors").write_bytes(
        len(header).to_bytes(8, "little") + header + b"".join(map(bytes, sent)))
    return {"folder": folder, "storages": [*map(str, range(len(sent)))]}


def answer(what, asked, memories, sent):
    if what == "hello":
        os.chdir(asked["exchange"])
    if what == "load":
        lines = [LINE.fullmatch(line.strip()) or refuse(line.strip()) for line in asked["graph"].splitlines()[1:-1]]
        return {"program": PROGRAMS.append(lines) or len(PROGRAMS) - 1}
    if what == "call":
        inputs = [taken(each, memories) for each in asked["inputs"]]
        outputs = [told(*each, sent) for each in run(PROGRAMS[asked["program"]], inputs)]
        return {"result": {"outputs": outputs, "final_inputs": [told(*each, sent) for each in inputs]}}
    return {"hello": {"name": "minimal"}, "open": {"executor": next(COUNT)}, "close": {"done": True}}[what]


for line in sys.stdin:
    (what, asked), *more = json.loads(line).items()
    sent = []
    try:
        said = answer(what, asked, read(**dict(more)) if more else [], sent)
        said |= write(f"answer{next(COUNT)}", sent) if sent else {}
    except ValueError as error:
        said = {"refusal": "unsupported", "message": str(error)}
    print(json.dumps(said), flush=True)
