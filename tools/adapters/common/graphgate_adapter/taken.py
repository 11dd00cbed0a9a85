"""Which ops an engine takes, by the names of graph text, from the tables that the engine has.

A program is exported before such an engine gets it. So an op is taken, too, where PyTorch itself makes
it of others, and where a number of it is known then: sizes are.
"""

import math
import operator

import torch

_SPACES = ("aten", "prims", "quantized_decomposed")
_OF_DATA = (torch.Tag.dynamic_output_shape, torch.Tag.data_dependent_output)
_COMPOSITE = "CompositeImplicitAutograd"


def overloads():
    """Every op of PyTorch that makes a tensor: none that writes an operand, and none with `out`."""
    for name in torch._C._dispatch_get_all_op_names():
        space, _, rest = name.partition("::")
        if space not in _SPACES:
            continue
        base, _, overload = rest.partition(".")
        found = getattr(getattr(getattr(torch.ops, space), base, None), overload or "default", None)
        if not isinstance(found, torch._ops.OpOverload) or found._schema.is_mutable:
            continue
        if any("Tensor" in str(each.type) for each in found._schema.returns):
            yield found


def is_made_of_others(op):
    """Whether torch.export takes the op apart, whatever it is given to take apart."""
    return torch._C._dispatch_has_kernel_for_dispatch_key(op.name(), _COMPOSITE)


def depends_on_data(op):
    """Whether only a call can tell the sizes of what it makes, or a number."""
    return any(tag in op.tags for tag in _OF_DATA)


def name_of(op):
    """The op as graph text names it; an object of PyTorch, or a function of Python."""
    if isinstance(op, torch._ops.OpOverload):
        return str(op)
    if isinstance(op, torch._ops.HigherOrderOperator):
        return f"higher_order.{op.name()}"
    return f"{op.__module__}.{op.__name__}"


def known_numbers():
    """What graph text says of sizes: a program that is exported for some has their numbers."""
    modules = {"_operator": operator, "math": math}
    names = [f"{space}.{name}" for space, module in modules.items() for name in dir(module)
             if not name.startswith("_")]
    sizes = torch.ops.aten.sym_size.int, torch.ops.aten.sym_stride.int, torch.ops.aten.sym_numel.default
    symbols = [f"torch.{name}" for name in dir(torch) if name.startswith("sym_")]
    return [*names, *symbols, *map(str, sizes), "aten.sym_storage_offset.default"]
