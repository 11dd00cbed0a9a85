#!/usr/bin/env python3
"""An executor for graphgate that adds, multiplies and transposes float32 tensors (docs/executors.md).

It needs nothing but Python. An executor of yours begins here: replace parse() and run().
"""

import array
import itertools
import json
import math
import operator
import os
import re
import shutil
import struct
import sys


class Refusal(Exception):
    """Its arguments are a kind and a message."""


class Tensor:
    """A view of memory, an array of float32. Tensors that share it alias."""

    def __init__(self, memory, sizes, strides, offset=0):
        self.memory, self.sizes, self.strides, self.offset = memory, sizes, strides, offset

    def places(self, sizes):
        """Of the elements in memory, broadcast to these sizes."""
        lead = len(sizes) - len(self.sizes)
        if lead < 0 or any(n not in (1, m) for n, m in zip(self.sizes, sizes[lead:])):
            raise Refusal("bad input", f"{self.sizes} does not broadcast to {sizes}")
        strides = [0] * lead + [s if n > 1 else 0 for n, s in zip(self.sizes, self.strides)]
        for at in itertools.product(*map(range, sizes)):
            yield self.offset + sum(map(operator.mul, at, strides))

    def read(self, sizes):
        return [self.memory[place] for place in self.places(sizes)]

    def write(self, values):
        """Rounds each once, to float32."""
        for place, value in zip(self.places(self.sizes), values):
            self.memory[place] = value
        return self


# ---- what it computes ----


def new(sizes):
    strides = [math.prod(sizes[i + 1:]) for i in range(len(sizes))]
    return Tensor(array.array("f", bytes(4 * math.prod(sizes))), sizes, strides)


def pointwise(compute, a, b, out=None):
    pairs = [*itertools.zip_longest(a.sizes[::-1], b.sizes[::-1], fillvalue=1)][::-1]
    out = out or new([m if n == 1 else n for n, m in pairs])
    return out.write([compute(x, y) for x, y in zip(a.read(out.sizes), b.read(out.sizes))])


def add(a, b, alpha=None, out=None):
    return pointwise(lambda x, y: x + (y * alpha.memory[0] if alpha else y), a, b, out)


def mul(a, b, out=None):
    return pointwise(operator.mul, a, b, out)


OPS = {
    "aten.add.Tensor": add,
    "aten.add.Scalar": add,
    "aten.add.out": add,
    "aten.add_.Tensor": lambda a, b, **named: add(a, b, out=a, **named),
    "aten.mul.Tensor": mul,
    "aten.mul.Scalar": mul,
    "aten.mul.out": mul,
    "aten.mul_.Tensor": lambda a, b: mul(a, b, out=a),
    "aten.neg.default": lambda a: mul(a, new([]).write([-1])),
    "aten.clone.default": lambda a: new(a.sizes).write(a.read(a.sizes)),
    "aten.t.default": lambda a: Tensor(a.memory, a.sizes[::-1], a.strides[::-1], a.offset),
}

# A line of graph text (docs/formats.md).
LINE = re.compile(
    r'(parameter|buffer|constant|input) %(?P<name>\w+)( "(?P<target>[^"]*)")?( nonpersistent)? : .*'
    r"|%(?P<result>\w+)( : [^=]*)? = (?P<op>[\w.]+)\((?P<words>[^()]*)\)( as .*)?"
    r'|mutation \w+ "(?P<written>[^"]*)" %(?P<by>\w+)|output %(?P<output>\w+)|(symbol|annotation) .*')


def parse(graph):
    lines = []
    for text in graph.splitlines()[1:-1]:
        lines.append(LINE.fullmatch(text.strip()))
        if not lines[-1] or lines[-1]["op"] not in (None, *OPS):
            raise Refusal("unsupported", f"the example does not know {text.strip()}")
    return lines


def number(word):
    try:
        return new([]).write([float(word)])
    except ValueError as error:
        raise Refusal("unsupported", f"the example does not know the argument {word}") from error


def run(lines, states, inputs):
    """The outputs. Inputs and states are written where the program writes them."""
    values, held, outputs = {}, dict(states), []  # by the names of values, and of targets
    for line in lines:
        if line["name"]:
            target = line["target"] or line["name"]
            if target not in held:
                held[target] = inputs[len(held) - len(states)]
            values[line["name"]] = held[target]
        elif line["op"]:
            operands, named = [], {}
            for word in line["words"].split(", "):
                name, _, word = word.rpartition("=")
                operand = values[word[1:]] if word[0] == "%" else number(word)
                named.update({name: operand}) if name else operands.append(operand)
            values[line["result"]] = OPS[line["op"]](*operands, **named)
        elif line["written"]:
            place = held[line["written"]]
            place.write(values[line["by"]].read(place.sizes))
        elif line["output"]:
            outputs.append(values[line["output"]])
    return outputs


# ---- the protocol ----


class Server:
    def __init__(self):
        self._exchange = None
        self._count = 0  # numbers that were given
        self._programs = {}  # lines, and states by their targets
        self._contents = []  # of the request, by storage
        self._memories = []  # the same, once a tensor was made of it
        self._sent = []  # memories of the answer

    def hello(self, exchange, **_):
        self._exchange = exchange
        return {"name": "example", "options": [], "layouts": "free", "devices": ["cpu"]}

    def open(self, **_):
        return {"executor": self._number()}

    def load(self, graph, tensors, **_):
        states = {each["name"]: self._taken(each["tensor"]) for each in tensors}
        number = self._number()
        self._programs[number] = parse(graph), states
        return {"program": number}

    def call(self, program, inputs, **_):
        lines, states = self._programs[program]
        if not all("tensor" in value for value in inputs):
            raise Refusal("unsupported", "the example takes no numbers for inputs")
        inputs = [self._taken(value["tensor"]) for value in inputs]
        return {"result": {
            "outputs": [{"tensor": self._told(each)} for each in run(lines, states, inputs)],
            "final_inputs": [{"tensor": self._told(each)} for each in inputs],
            "final_states": [{"name": name, "tensor": self._told(each)} for name, each in states.items()],
        }}

    def set_state(self, program, target, tensor, rebind):
        states = self._programs[program][1]
        if rebind:
            states[target] = self._taken(tensor)
        else:
            states[target].write(self._taken(tensor).read(states[target].sizes))
        return {"done": True}

    def close(self, **_):
        return {"done": True}

    def answer(self, line):
        message = json.loads(line)
        folder, names = message.pop("folder", None), message.pop("storages", [])
        self._contents = self._read(os.path.join(self._exchange, folder), names) if folder else []
        self._memories, self._sent = [None] * len(names), []
        (what, body), = message.items()
        try:
            answer = getattr(self, what)(**body)
        except Refusal as refusal:
            return dict(zip(("refusal", "message"), refusal.args))
        return answer | self._write() if self._sent else answer

    def _number(self):
        self._count += 1
        return self._count

    def _taken(self, said):
        """A tensor of the request."""
        if (said["dtype"], said["device"]) != ("float32", "cpu"):
            raise Refusal("unsupported", f"the example has no {said['dtype']} on {said['device']}")
        number = said["storage"]
        if self._memories[number] is None:
            self._memories[number] = array.array("f", self._contents[number])
        return Tensor(self._memories[number], said["sizes"], said["strides"], said.get("storage_offset", 0))

    def _told(self, tensor):
        """A tensor of the answer."""
        number = next((i for i, memory in enumerate(self._sent) if memory is tensor.memory), len(self._sent))
        if number == len(self._sent):
            self._sent.append(tensor.memory)
        return {"storage": number, "dtype": "float32", "sizes": tensor.sizes, "strides": tensor.strides,
                "storage_offset": tensor.offset, "device": "cpu"}

    @staticmethod
    def _read(folder, names):
        """The bytes of each storage, of a file that is safetensors. The reader of a folder removes it."""
        with open(os.path.join(folder, "tensors.safetensors"), "rb") as file:
            header = json.loads(file.read(*struct.unpack("<Q", file.read(8))))
            data = file.read()
        shutil.rmtree(folder)
        return [data[slice(*header[name]["data_offsets"])] for name in names]

    def _write(self):
        header, data = {}, b""
        for number, memory in enumerate(self._sent):
            begin, data = len(data), data + memory.tobytes()
            header[f"content{number}"] = {
                "dtype": "U8", "shape": [len(data) - begin], "data_offsets": [begin, len(data)]}
        head, folder = json.dumps(header).encode(), f"answer{self._number()}"
        os.mkdir(os.path.join(self._exchange, folder))
        with open(os.path.join(self._exchange, folder, "tensors.safetensors"), "wb") as file:
            file.write(struct.pack("<Q", len(head)) + head + data)
        return {"folder": folder, "storages": list(header)}


def main():
    server = Server()
    for line in sys.stdin:
        print(json.dumps(server.answer(line)), flush=True)


if __name__ == "__main__":
    main()
