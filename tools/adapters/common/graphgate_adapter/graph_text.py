"""Reads graphgate's graph text (docs/formats.md) into plain data.

The text says all of a program but for the bytes of its tensors. Types of node results are read for
their dtype, sizes and device only: PyTorch infers the rest itself.
"""

import dataclasses
import re

_TOKEN = re.compile(
    r"""\s*(?:\#[^\n]*\n\s*)*(?:
      (?P<string>"(?:[^"\\]|\\.)*")
    | (?P<value>%[A-Za-z_0-9.]+)
    | (?P<graph>@[A-Za-z_][A-Za-z_0-9]*)
    | (?P<number>(?:\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\d+))
    | (?P<word>[A-Za-z_][A-Za-z_0-9]*(?:\.[A-Za-z_][A-Za-z_0-9]*)*)
    | (?P<punctuation>->|//|\*\*|[=!<>]=|[-+*%/<>=(){}\[\],:@])
    )""",
    re.VERBOSE,
)

DTYPES = ("f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2", "i64", "i32", "i16", "i8", "u8", "bool",
          "c64", "c128")
_NUMBERS = ("symint", "symfloat", "symbool")


class TextError(ValueError):
    """The text is not what graph text is."""


@dataclasses.dataclass(frozen=True)
class Ref:
    """A value (%x)."""

    name: str


@dataclasses.dataclass(frozen=True)
class GraphRef:
    """A subgraph (@g)."""

    name: str


@dataclasses.dataclass(frozen=True)
class Word:
    """A bare word: a dtype, a memory format, an op."""

    text: str


@dataclasses.dataclass(frozen=True)
class Made:
    """layout(strided), device("cuda:0")."""

    kind: str
    text: str


@dataclasses.dataclass
class Type:
    kind: str  # tensor, tensors, symint, symfloat, symbool or none
    dtype: str = ""
    device: str = "cpu"
    sizes: tuple = ()  # of a tensor, as texts: "4", "s0", "2*s0"


@dataclasses.dataclass
class Input:
    kind: str  # parameter, buffer, constant or user
    target: str
    value: str = ""  # empty for a constant argument
    type: Type = None
    constant: object = None


@dataclasses.dataclass
class Node:
    name: str
    op: str
    args: list
    kwargs: dict
    results: list  # a value's name, or a list of names for a returned list


@dataclasses.dataclass
class Graph:
    name: str
    inputs: list = dataclasses.field(default_factory=list)
    graphs: dict = dataclasses.field(default_factory=dict)
    nodes: list = dataclasses.field(default_factory=list)
    mutations: list = dataclasses.field(default_factory=list)  # (kind, target, argument)
    outputs: list = dataclasses.field(default_factory=list)
    types: dict = dataclasses.field(default_factory=dict)  # of values, where stated
    text: str = ""  # of the whole program
    symbols: dict = dataclasses.field(default_factory=dict)  # name: (least, greatest)


class _Reader:
    def __init__(self, text):
        self._text = text
        self._tokens = list(self._split(text))
        self._at = 0

    @staticmethod
    def _split(text):
        at = 0
        while True:
            match = _TOKEN.match(text, at)
            if match is None:
                rest = text[at:].strip()
                if rest:
                    raise TextError(f"line {text.count(chr(10), 0, at) + 1}: found {rest[:20]!r}")
                yield "end", "", len(text)
                return
            yield match.lastgroup, match.group(match.lastgroup), match.start(match.lastgroup)
            at = match.end()

    def peek(self, ahead=0):
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)][1]

    def kind(self):
        return self._tokens[self._at][0]

    def take(self):
        text = self.peek()
        self._at += 1
        return text

    def accept(self, text):
        if self.peek() != text or self.kind() == "string":
            return False
        self._at += 1
        return True

    def fail(self, wanted):
        line = self._text.count("\n", 0, self._tokens[self._at][2]) + 1
        raise TextError(f"line {line}: expected {wanted}, found {self.peek()!r}")

    def expect(self, text):
        if not self.accept(text):
            self.fail(f"'{text}'")

    def of_kind(self, kind):
        if self.kind() != kind:
            self.fail(f"a {kind}")
        return self.take()

    def string(self):
        text = self.of_kind("string")[1:-1]
        return re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), text)

    def balanced(self, opening, closing):
        """Skips what stands between two brackets."""
        self.expect(opening)
        depth = 1
        while depth:
            if self.kind() == "end":
                self.fail(f"'{closing}'")
            depth += {opening: 1, closing: -1}.get(self.take(), 0)

    def sizes(self):
        """The texts between two brackets, without blanks."""
        self.expect("[")
        texts, depth = [""], 0
        while depth or self.peek() != "]":
            if self.kind() == "end":
                self.fail("']'")
            token = self.take()
            depth += {"(": 1, ")": -1}.get(token, 0)
            if token == "," and not depth:
                texts.append("")
            else:
                texts[-1] += token
        self.expect("]")
        return tuple(texts) if texts != [""] else ()

    def symbol(self, graph):
        """symbol s0 in [1, 64] hint 8"""
        self.expect("symbol")
        name = self.of_kind("word")
        self.expect("in")
        self.expect("[")
        least = self.argument()
        self.expect(",")
        graph.symbols[name] = least, self.argument()
        self.expect("]")
        if self.accept("hint"):
            self.argument()

    def type(self):
        word = self.of_kind("word")
        if word in _NUMBERS:
            # On the next line it opens a list of results.
            if self.peek() == "(" and not self._ends():
                self.balanced("(", ")")
            if self.accept("hint"):
                self.argument()
            return Type(word)
        if word in ("tensors", "none"):
            return Type(word)
        if word not in DTYPES:
            raise TextError(f"no dtype is called '{word}'")
        type = Type("tensor", word)
        type.sizes = self.sizes()
        if self.peek() == "{" :
            self.balanced("{", "}")
        # An offset that begins with a symbol reads like a graph.
        if self.peek().startswith("@") and self.kind() != "string":
            self.take()
            self.expression()
        if self.accept("on"):
            type.device = self.device_name()
        if self.accept("layout"):
            self.of_kind("word")
        return type

    def device_name(self):
        name = self.of_kind("word")
        return f"{name}:{self.take()}" if self.accept(":") else name

    def expression(self):
        """Skips an offset: an expression up to what ends a type."""
        depth = 0
        while depth or self.peek() not in ("on", "layout", ",", ")", "=", "}") and not self._ends():
            depth += {"(": 1, ")": -1}.get(self.take(), 0)

    def _ends(self):
        """Whether the next token stands on another line."""
        before = self._tokens[self._at - 1]
        return "\n" in self._text[before[2] : self._tokens[self._at][2]]

    def argument(self):
        kind = self.kind()
        if kind == "string":
            return self.string()
        if kind == "value":
            return Ref(self.take()[1:])
        if kind == "graph":
            return GraphRef(self.take()[1:])
        if self.accept("["):
            items = []
            while not self.accept("]"):
                items.append(self.argument())
                self.accept(",")
            return items
        sign = -1 if self.accept("-") else 1
        if self.kind() == "number":
            text = self.take()
            return sign * (int(text) if text.isdigit() else float(text))
        word = self.of_kind("word")
        if word in ("inf", "nan"):
            return sign * float(word)
        if word in ("None", "True", "False"):
            return {"None": None, "True": True, "False": False}[word]
        if word == "complex":
            return self.complex()
        if self.peek() == "(":
            self.take()
            text = self.string() if self.kind() == "string" else self.take()
            self.expect(")")
            return Word(text) if word == "op" else Made(word, text)
        return Word(word)

    def complex(self):
        """complex(1.0, -2.0), behind the word."""
        self.expect("(")
        real = self.argument()
        self.expect(",")
        imag = self.argument()
        self.expect(")")
        return complex(real, imag)

    def value(self, graph):
        name = self.of_kind("value")[1:]
        if self.accept(":"):
            graph.types[name] = self.type()
        return name

    def input(self, graph):
        kind = self.take()
        if kind == "input" and self.kind() == "string":
            target = self.string()
            self.expect("=")
            graph.inputs.append(Input("user", target, constant=self.argument()))
            return
        value = self.of_kind("value")[1:]
        target = self.string() if self.kind() == "string" else value
        self.accept("nonpersistent")
        self.expect(":")
        type = graph.types[value] = self.type()
        if self.accept("="):
            raise TextError("tensors come beside the text, not in it")
        graph.inputs.append(Input("user" if kind == "input" else kind, target, value, type))

    def node(self, graph):
        results = []
        while self.kind() == "value" or self.peek() == "(":
            if self.accept("("):
                names = []
                while not self.accept(")"):
                    names.append(self.value(graph))
                    self.accept(",")
                results.append(names)
            else:
                results.append(self.value(graph))
            if self.accept("="):
                break
            self.expect(",")
        op = self.string() if self.accept("op") else self.of_kind("word")
        self.expect("(")
        args, kwargs = [], {}
        while not self.accept(")"):
            if self.kind() == "word" and self.peek(1) == "=":
                name = self.take()
                self.take()
                kwargs[name] = self.argument()
            else:
                args.append(self.argument())
            self.accept(",")
        name = f"node_{len(graph.nodes)}"
        if results:
            name = results[0] if isinstance(results[0], str) else (results[0] + [name])[0]
        if self.accept("as"):
            name = self.take()
        graph.nodes.append(Node(name, op, args, kwargs, results))

    def body(self, graph):
        self.expect("{")
        while not self.accept("}"):
            word = self.peek()
            if word == "annotation":
                self.take(), self.string(), self.string()
            elif word == "symbol":
                self.symbol(graph)
            elif word in ("parameter", "buffer", "constant", "input"):
                self.input(graph)
            elif word == "graph":
                self.take()
                name = self.of_kind("graph")[1:]
                graph.graphs[name] = self.body(Graph(name))
            elif word == "mutation":
                self.take()
                graph.mutations.append((self.take(), self.string(), self.argument()))
            elif word == "output":
                self.take()
                graph.outputs.append(self.argument())
            else:
                self.node(graph)
        return graph


def parse(text):
    """The program's graph; its name is the program's. TextError where the text is not right."""
    reader = _Reader(text)
    reader.expect("program")
    graph = Graph(reader.string())
    if reader.accept("graph"):
        reader.string()
    graph.text = text
    reader.body(graph)
    if reader.kind() != "end":
        reader.fail("the end")
    return graph


def _devices_in(arguments):
    for argument in arguments:
        if isinstance(argument, list):
            yield from _devices_in(argument)
        elif isinstance(argument, Made) and argument.kind == "device":
            yield argument.text


def devices(graph):
    """The names of devices that types and arguments hold."""
    for type in graph.types.values():
        if type.kind == "tensor":
            yield type.device
    for node in graph.nodes:
        yield from _devices_in([*node.args, *node.kwargs.values()])
    for inner in graph.graphs.values():
        yield from devices(inner)
