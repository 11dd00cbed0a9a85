"""Makes an fx.GraphModule of a program in graph text, op for op as it is written.

States are parameters and buffers of the module, so that a compiler sees them as it sees those of a
model.
"""

import contextlib
import importlib
import math
import operator

import torch
from torch._higher_order_ops.auto_functionalize import can_auto_functionalize

from graphgate_adapter import graph_text, spelling
from graphgate_adapter.graph_text import GraphRef, Made, Ref, Word

DTYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f8e4m3": torch.float8_e4m3fn,
    "f8e5m2": torch.float8_e5m2,
    "i64": torch.int64,
    "i32": torch.int32,
    "i16": torch.int16,
    "i8": torch.int8,
    "u8": torch.uint8,
    "bool": torch.bool,
    "c64": torch.complex64,
    "c128": torch.complex128,
}
_WORDS = DTYPES | {
    name: getattr(torch, name) for name in ("contiguous_format", "preserve_format", "channels_last")
}
AUTO_FUNCTIONALIZED = "higher_order.auto_functionalized_v2"
WHILE_LOOP = "higher_order.while_loop"
# can_auto_functionalize takes no op of these namespaces, whatever its schema.
NOT_WRAPPED = ["aten", "prim", "prims"]
# PyTorch registers the ops of these namespaces when the module is imported.
_OWNERS = {
    "prims": "torch._inductor.inductor_prims",  # some of them, as what Dynamo makes of optimizers' steps
    "quantized_decomposed": "torch.ao.quantization.fx._decomposed",
}
_PYTHON = {"_operator": operator, "math": math, "torch": torch}
_known_otherwise = {}  # name in graph text -> (op, what makes its arguments of those in the text)


class Unsupported(Exception):
    """What PyTorch, or this adapter, has no way to say."""


def _is_host(name):
    return name.partition(":")[0] == "cpu"


def whole_device(name):
    """The device as its tensors name it: "cuda" is "cuda:0", since ops compare the two."""
    device = torch.device(name)
    if device.type == "cpu" or device.index is not None:
        return device
    current = getattr(torch.get_device_module(device.type), "current_device", lambda: 0)
    return torch.device(device.type, current())


class Devices:
    """Where a program's devices are here, and what it calls them.

    A program on the host alone runs on the device under test. One that names accelerators means
    them: PyTorch lets few ops mix devices.
    """

    def __init__(self, graph, under_test):
        self._under_test = whole_device(under_test)
        names = set(graph_text.devices(graph))
        accelerators = sorted(name for name in names if not _is_host(name))
        # "cuda" is the first of them, wherever the program says so.
        if len({name if ":" in name else name + ":0" for name in accelerators}) > 1:
            raise Unsupported(f"the program names {len(accelerators)} accelerators")
        # As its values say it: results are told by this name.
        self._main = accelerators[-1] if accelerators else "cpu"
        has_host = any(_is_host(name) for name in names)
        if accelerators and has_host and self._under_test.type == "cpu":
            raise Unsupported("the program lives on two devices, and here is one")

    def here(self, name):
        is_main = _is_host(name) == _is_host(self._main)
        return self._under_test if is_main else torch.device("cpu")

    def named(self, device):
        return self._main if device.type == self._under_test.type else "cpu"

    @property
    def default(self):
        """Where ops that are told no device make their results: beside the program's other values."""
        return self._under_test


def attribute(target):
    """The name of the attribute that holds a state."""
    return "state_" + "".join(c if c.isalnum() else f"_{ord(c):x}_" for c in target)


def know_otherwise(name, op, arguments=lambda args, kwargs: (args, kwargs)):
    """Has modules call `op` where graph text says `name`.

    `arguments`: makes positional and named arguments of `op` from those of the text, also from those
    of a call that auto_functionalized or auto_functionalized_v2 wraps.
    """
    _known_otherwise[name] = op, arguments


def _op(name):
    if name in _known_otherwise:
        return _known_otherwise[name][0]
    namespace, _, rest = name.partition(".")
    if namespace in _PYTHON:
        return getattr(_PYTHON[namespace], rest)
    if namespace in _OWNERS:
        with contextlib.suppress(ImportError):
            importlib.import_module(_OWNERS[namespace])
    found = getattr(torch.ops, namespace)
    try:
        for part in rest.split("."):
            found = getattr(found, part)
    except AttributeError:
        raise Unsupported(f"PyTorch {torch.__version__} has no {name}") from None
    return found


def _is_wrapper(name):
    """Whether the op runs another one, which its first argument names."""
    return name.startswith("higher_order.auto_functionalized")


def _takes_device(op):
    """Whether an op makes tensors of nothing, on a device that it may be told."""
    if not isinstance(op, torch._ops.OpOverload):
        return False
    arguments = op._schema.arguments
    return any(a.name == "device" for a in arguments) and not any(
        "Tensor" in str(a.type) for a in arguments
    )


class _Builder:
    def __init__(self, graph, root, devices, spelling="aten", is_condition=False):
        self._source = graph
        self._root = root
        self._devices = devices
        self._spelling = spelling  # of spelling.SPELLINGS
        self._is_condition = is_condition  # of a while_loop, which returns no tuple
        self._graph = torch.fx.Graph()
        self._values = {}

    def build(self):
        for each in self._source.inputs:
            if not each.value:
                continue  # a constant, which no caller passes
            if each.kind == "user":
                node = self._graph.placeholder(f"in_{len(self._values)}")
                node.meta["graphgate_sizes"] = each.type.sizes
            else:
                node = self._graph.get_attr(attribute(each.target))
            self._values[each.value] = node
        conditions = {
            node.args[0].name for node in self._source.nodes if node.op == WHILE_LOOP and node.args
        }
        for name, graph in self._source.graphs.items():
            root = torch.nn.Module()
            built = _Builder(graph, root, self._devices, self._spelling, name in conditions).build()
            self._root.add_module(f"graph_{name}", built)
        for node in self._source.nodes:
            self._add(node)
        # An output that is the new contents of a target is the target, as torch.export has it.
        for kind, target, argument in self._source.mutations:
            self._values[argument.name] = self._graph.call_function(
                torch.ops.aten.copy_.default,
                (self._target(kind, target), self._argument(argument)),
            )
        outputs = tuple(self._argument(each) for each in self._source.outputs)
        self._graph.output(outputs[0] if self._is_condition else outputs)
        module = torch.fx.GraphModule(self._root, self._graph)
        module.meta["graphgate_symbols"] = self._source.symbols
        return module

    def _target(self, kind, target):
        for each in self._source.inputs:
            if each.target == target and (each.kind == "user") == (kind == "input"):
                return self._values[each.value]
        raise graph_text.TextError(f"no input is called '{target}'")

    def _add(self, node):
        if spelling.is_python(self._spelling, node.name):
            made = spelling.spelled(self._source, node, self._graph, self._argument)
            if made is not None:
                self._values[node.results[0]] = made
                return
        op = _op(node.op)
        kwargs = {name: self._argument(each) for name, each in node.kwargs.items()}
        if _takes_device(op) and kwargs.get("device") is None:
            kwargs["device"] = self._devices.default
        args = tuple(self._argument(each) for each in node.args)
        called = node.args[0].text if node.args and _is_wrapper(node.op) else node.op
        if called in _known_otherwise:
            args, kwargs = _known_otherwise[called][1](args, kwargs)
        if node.op == AUTO_FUNCTIONALIZED and not can_auto_functionalize(args[0]):
            raise Unsupported(f"PyTorch does not run {args[0]} in auto_functionalized_v2")
        made = self._graph.call_function(op, args, kwargs)
        is_one = len(node.results) == 1 and not node.op.startswith("higher_order.")
        for i, result in enumerate(node.results):
            whole = made if is_one else self._item(made, i)
            if isinstance(result, str):
                self._values[result] = whole
                continue
            for j, name in enumerate(result):
                self._values[name] = self._item(whole, j)

    def _item(self, node, index):
        return self._graph.call_function(operator.getitem, (node, index))

    def _argument(self, argument):
        if isinstance(argument, list):
            return [self._argument(each) for each in argument]
        if isinstance(argument, Ref):
            return self._values[argument.name]
        if isinstance(argument, GraphRef):
            return self._graph.get_attr(f"graph_{argument.name}")
        if isinstance(argument, Made):
            if argument.kind == "device":
                return self._devices.here(argument.text)
            return getattr(torch, argument.text)
        if isinstance(argument, Word):
            return _WORDS[argument.text] if argument.text in _WORDS else _op(argument.text)
        return argument


def build(graph, states, devices, spelling="aten"):
    """The module of a parsed program. `states`: tensors by target, on their devices already.

    `spelling`: of what Python code says without naming an op (spelling.SPELLINGS).
    Its meta says the ranges of symbols ("graphgate_symbols"), and that of a placeholder the sizes that
    the text states ("graphgate_sizes"), for engines that are told of sizes which differ from call to call.
    """
    root = torch.nn.Module()
    for each in graph.inputs:
        if each.kind == "user":
            continue
        tensor = states[each.target]
        if each.kind == "parameter":
            root.register_parameter(
                attribute(each.target), torch.nn.Parameter(tensor, requires_grad=False)
            )
        else:
            root.register_buffer(attribute(each.target), tensor)
    made = _Builder(graph, root, devices, spelling).build()
    made.meta["graph"] = graph
    return made
