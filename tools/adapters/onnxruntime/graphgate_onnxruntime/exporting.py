"""Makes an ONNX model of a module: what the module writes becomes outputs.

torch.export takes all writes out of the program, and PyTorch's exporter (torch.onnx.export with
dynamo=True) makes ONNX of that, without its own optimizations.
"""

import dataclasses
import functools
import io
import logging
import re
import warnings

import onnx
import torch
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind, TensorArgument
from torch.onnx._internal.exporter import _decomp, _errors, _registration

from graphgate_adapter import taken
from graphgate_adapter.module import Unsupported

# How its errors name the op, and colours for terminals.
_OP = re.compile(r"target=(?:torch\.ops\.)?([\w.]+)\]|target: (\S+)")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")

_WRITES = {
    OutputKind.PARAMETER_MUTATION, OutputKind.BUFFER_MUTATION, OutputKind.USER_INPUT_MUTATION,
}
_STATES = {InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR}
# What exporters and ONNX have no element type for.
_NO_TYPE = (torch.complex64, torch.complex128)


@dataclasses.dataclass
class Model:
    """An ONNX model, and how the module's values are its own.

    `feeds`: for each input of the model ("state", name) or ("input", number). `writes`: what the module
    writes, named so, with the number of the model's output. `results`: for each output of the module
    the number of the model's output, or the value itself in a tuple. `shapes` and `dtypes` are of the model's outputs.
    """

    proto: onnx.ModelProto
    feeds: list
    writes: list
    results: list
    shapes: list
    dtypes: list


class _Functional(torch.nn.Module):
    """A graph without writes, of tensors alone."""

    def __init__(self, graph_module, constants, kept):
        super().__init__()
        self._graph_module = graph_module
        self._constants = constants  # by the place among the arguments
        self._kept = kept

    def forward(self, *tensors):
        rest = iter(tensors)
        count = len(tensors) + len(self._constants)
        made = self._graph_module(
            *(self._constants[i] if i in self._constants else next(rest) for i in range(count))
        )
        return tuple(made[i] for i in self._kept)


def export(module, inputs):
    """The model for inputs of these sizes. Raises Unsupported for what torch.export refuses, and for
    what ONNX has no op for; other errors are the exporter's."""
    functional = _without_writes(module, inputs)
    signature = functional.graph_signature
    feeds, tensors, constants = [], [], {}
    numbers = {}
    for place, spec in enumerate(signature.input_specs):
        if spec.kind in _STATES:
            feeds.append(("state", spec.target))
            tensors.append(_state(module, functional, spec.target))
            continue
        number = numbers.setdefault(spec.arg.name, len(numbers))
        if isinstance(spec.arg, TensorArgument):
            feeds.append(("input", number))
            tensors.append(inputs[number])
        elif isinstance(spec.arg, ConstantArgument):
            constants[place] = inputs[number]
        else:
            raise Unsupported(f"torch.export: an input of kind {type(spec.arg).__name__}")
    numbers = {name: ("input", number) for name, number in numbers.items()}
    # What the program hands out twice is one output of the model: its outputs have names.
    kept, numbered, writes, results = [], {}, [], []

    def keep(place, spec):
        if spec.arg.name not in numbered:
            numbered[spec.arg.name] = len(kept)
            kept.append(place)
        return numbered[spec.arg.name]

    for place, spec in enumerate(signature.output_specs):
        if spec.kind in _WRITES:
            to = (
                numbers[spec.target] if spec.kind == OutputKind.USER_INPUT_MUTATION
                else ("state", spec.target)
            )
            writes.append((to, keep(place, spec)))
        elif spec.kind != OutputKind.USER_OUTPUT:
            raise Unsupported(f"torch.export: an output of kind {spec.kind.name}")
        elif isinstance(spec.arg, ConstantArgument):
            results.append((spec.arg.value,))
        elif isinstance(spec.arg, TensorArgument):
            results.append(keep(place, spec))
        else:
            raise Unsupported("an output that is a number which only a call can tell")
    if not kept:
        raise Unsupported("a program that makes no tensor")
    outputs = [_meta(functional, place) for place in kept]
    for each in (*tensors, *outputs):
        if each.dtype in _NO_TYPE:
            raise Unsupported(f"ONNX Runtime has no kernels for {each.dtype}")
        if not all(isinstance(size, int) for size in each.shape):
            raise Unsupported("sizes that only a call can tell")
    flat = _Functional(functional.graph_module, constants, kept)
    proto = _to_onnx(flat, [tensor.detach() for tensor in tensors])
    return Model(
        proto, feeds, writes, results, [tuple(each.shape) for each in outputs],
        [each.dtype for each in outputs],
    )


def _without_writes(module, inputs):
    try:
        program = torch.export.export(module, tuple(inputs), strict=False)
        return program.run_decompositions({})
    except Exception as error:
        first = str(error).strip().splitlines() or [""]
        raise Unsupported(f"torch.export: {type(error).__name__}: {first[0]}"[:400]) from error


def _state(module, program, target):
    held = getattr(module, target, None)
    if held is None:
        held = program.constants.get(target)
        raise Unsupported(f"torch.export made a constant of its own, {target}: {held is not None}")
    return held


def _meta(program, place):
    (output,) = (node for node in program.graph.nodes if node.op == "output")
    node = output.args[0][place]
    if not isinstance(node, torch.fx.Node) or not isinstance(node.meta.get("val"), torch.Tensor):
        raise Unsupported("an output that is no tensor")
    return node.meta["val"]


def _to_onnx(flat, tensors):
    try:
        again = torch.export.export(flat, tuple(tensors), strict=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = torch.onnx.export(
                again, (), dynamo=True, verbose=False, optimize=False, dump_exported_program=False
            )
    except Exception as error:
        said = _said(error)
        if _is_lacking(error):
            raise Unsupported(said) from error
        error.args = (said,)  # it tells where it stopped, and which steps come next
        raise
    buffer = io.BytesIO()
    made.save(buffer)
    return onnx.load_from_string(buffer.getvalue())


def _behind(error):
    """The error, and what it wraps."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def _is_lacking(error):
    """Whether the exporter has no ONNX for an op or a type."""
    words = ("No ONNX function found", "No decompositions registered")
    return any(
        isinstance(each, (_errors.DispatchError, NotImplementedError))
        or any(word in str(each) for word in words)
        # Ops that write, in a wrapper that the exporter does not take apart.
        or "auto_functionalized" in str(each) for each in _behind(error)
    )


def _said(error):
    """What the exporter says of its first failure, and of which op."""
    *outer, inner = _behind(error)
    op = next((found[1] for each in (*outer, inner) if (found := _OP.search(str(each)))), None)
    lines = [_COLOUR.sub("", line).strip() for line in str(inner).splitlines() if line.strip()]
    words = f"{type(inner).__name__}: {' '.join(lines[:2])}"[:400]
    return f"torch.onnx.export: {words}" + (f" (of {op})" if op else "")


@functools.cache
def ops():
    """The names of the ops that the exporter has a function for, or takes apart.

    Not among them is what depends on data, and what it has for complex numbers alone: neither is taken.
    """
    table = _registration.ONNXRegistry.from_torchlib().functions
    functions = {made[0].fx_target: any(not each.is_complex for each in made) for made in table.values()}
    apart = _decomp.create_onnx_friendly_decomposition_table(set(functions))
    names = {taken.name_of(op) for op, is_real in functions.items() if is_real
             and not isinstance(op, torch._ops.OpOverload)}

    def is_apart(op):
        # PyTorch's decompositions end in prims; one of the op's own name is all that there is of it.
        space, _, base = op._schema.name.partition("::")
        prim = getattr(torch.ops.prims, base, None)
        return space != "prims" and op in apart and (prim is None or prim.default in functions)

    for op in taken.overloads():
        is_taken = functions.get(op, is_apart(op) or taken.is_made_of_others(op))
        if is_taken and not taken.depends_on_data(op):
            names.add(taken.name_of(op))
    return sorted(names.union(taken.known_numbers()))


def quieten():
    """The exporter tells people how far it is; nobody reads that here."""
    for name in ("torch.onnx", "onnxscript", "onnx_ir"):
        logging.getLogger(name).setLevel(logging.ERROR)


def keep_registry():
    """Has the exporter read its table of functions once in a process: it does so for each model, and takes
    a second of a processor for it. Nothing here adds to the table."""
    registry = _registration.ONNXRegistry
    if isinstance(registry.__dict__["from_torchlib"], classmethod):
        registry.from_torchlib = staticmethod(functools.cache(registry.from_torchlib))
