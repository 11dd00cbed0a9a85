"""What a program declares of its inputs. A call with others is refused, as the reference refuses it:
PyTorch would run the program on them, or compile it again, and nothing is promised of that."""

import torch

from graphgate_adapter.module import DTYPES


def _expected_sizes(declared, sizes, symbols):
    """The sizes that are known: numbers, and symbols, which the first input that has them binds. None
    for the others, and for what is as it is declared."""
    for text, size in zip(declared.sizes, sizes, strict=True):
        if text.isdigit():
            yield int(text)
        else:
            yield symbols.setdefault(text, size) if text.isidentifier() else None


def _wrong_with(declared, value, symbols):
    """What is wrong with the input of a declared type, in words; "" where nothing is."""
    is_tensor = declared.kind == "tensor"
    if is_tensor != isinstance(value, torch.Tensor):
        return "a number where a tensor is expected" if is_tensor else "a tensor where a number is expected"
    if not is_tensor:
        return ""
    dtype = DTYPES[declared.dtype]
    if value.dtype != dtype:
        return f"dtype {str(value.dtype)[6:]}, expected {str(dtype)[6:]}"
    if value.dim() != len(declared.sizes):
        return f"rank {value.dim()}, expected {len(declared.sizes)}"
    for d, expected in enumerate(_expected_sizes(declared, value.shape, symbols)):
        if expected is not None and value.shape[d] != expected:
            text = declared.sizes[d]
            wanted = text if text.isdigit() else f"{text} = {expected}"
            return f"size {value.shape[d]} of dimension {d}, expected {wanted}"
    return ""


def refusal(graph, inputs):
    """Why the program declares no such inputs, in words; "" where it does.

    Sizes 0 and 1 are taken where a range begins at 2: whoever exported the program could not say so.
    """
    declared = [each for each in graph.inputs if each.kind == "user" and each.value]
    symbols = {}
    for each, value in zip(declared, inputs, strict=True):
        if wrong := _wrong_with(each.type, value, symbols):
            return f"input '{each.target or each.value}': {wrong}"
    for name, size in symbols.items():
        least, greatest = graph.symbols.get(name, (None, None))
        least = 0 if least == 2 else least
        too_small = isinstance(least, int) and size < least
        if too_small or isinstance(greatest, int) and size > greatest:
            return f"size {name} is {size}, outside its range [{graph.symbols[name][0]}, {greatest}]"
    return ""
