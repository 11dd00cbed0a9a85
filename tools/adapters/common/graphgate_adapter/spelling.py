"""Ops of graph text as Python code says them: `x[rows]`, `x[:, 1:3]`, `x[0]`, `x.size()[d]`.

What Dynamo captures of such code is operator.getitem, and a method; of an op that is called by its
name it is the op. Compilers tell them apart, before ATen has made one of both.
"""

import operator
import zlib

from graphgate_adapter.graph_text import Ref

SPELLINGS = ("aten", "python", "mixed")
_WHOLE = slice(None)


def is_python(spelling, name):
    """Whether a node is to be spelled so. Of a mixed program half of them are, by their names alone:
    a program that is reduced keeps what it is."""
    if spelling == "mixed":
        return zlib.crc32(name.encode()) % 2 == 0
    return spelling == "python"


def _rank(graph, argument):
    """Of a value whose type is stated; None of others."""
    type = graph.types.get(argument.name) if isinstance(argument, Ref) else None
    return len(type.sizes) if type is not None and type.kind == "tensor" else None


def _index(graph, node):
    if node.kwargs or len(node.args) != 2 or not isinstance(node.args[1], list) or not node.args[1]:
        return None
    # An index without dimensions is a number to Python, which gives a view.
    if not all(each is None or _rank(graph, each) for each in node.args[1]):
        return None
    return tuple(_WHOLE if each is None else each for each in node.args[1])


def _place(graph, node, item):
    """`item` in the dimension that is the second argument."""
    rank = _rank(graph, node.args[0])
    dim = node.args[1] if len(node.args) > 1 else 0
    if node.kwargs or not rank or not isinstance(dim, int) or not -rank <= dim < rank:
        return None
    return (_WHOLE,) * (dim % rank) + (item,)


def _slice(graph, node):
    return _place(graph, node, slice(*[*node.args[2:], None, None, None][:3]))


def _select(graph, node):
    return _place(graph, node, node.args[2]) if len(node.args) == 3 else None


_ITEMS = {
    "aten.index.Tensor": _index, "aten.slice.Tensor": _slice, "aten.select.int": _select,
}


def _within(item, argument):
    if isinstance(item, slice):
        return slice(*[argument(each) for each in (item.start, item.stop, item.step)])
    return argument(item)


def spelled(source, node, graph, argument):
    """The fx node that says a node of a parsed graph as Python does; None where Python has no words.

    `source`: the parsed graph; `graph`: the fx graph; `argument`: makes an argument for that.
    """
    if node.op == "aten.sym_size.int":
        if node.kwargs or len(node.args) != 2 or not isinstance(node.args[1], int):
            return None
        sizes = graph.call_method("size", (argument(node.args[0]),))
        return graph.call_function(operator.getitem, (sizes, node.args[1]))
    if node.op not in _ITEMS:
        return None
    items = _ITEMS[node.op](source, node)
    if items is None:
        return None
    items = tuple(_within(each, argument) for each in items)
    key = items[0] if len(items) == 1 else items
    return graph.call_function(operator.getitem, (argument(node.args[0]), key))
