"""What an error of PyTorch says, in one line that begins with the class of what went wrong."""

import re

from torch._dynamo.exc import TorchDynamoException, TorchRuntimeError
from torch._inductor.exc import LoweringException, OperatorIssue

# Where errors that wrap others name the op that they are about.
_OP = re.compile(r"^\s*target: (\S+)$|with fake tensors: \w+ ([\w.]+)\(", re.MULTILINE)


def _inside(error):
    """What a compiler's error wraps. These two hide it: `raise ... from None`."""
    if not isinstance(error, (TorchDynamoException, OperatorIssue)):
        return None
    inner = getattr(error, "inner_exception", None) or error.__cause__
    if inner is None and isinstance(error, (TorchRuntimeError, LoweringException)):
        inner = error.__context__
    return inner


def words_of(error):
    """CLASS: TEXT of the innermost error, and in brackets what it was wrapped in, and for which op."""
    wrappers = []
    while inner := _inside(error):
        wrappers.append(error)
        error = inner
    # Dynamo's first line says where it failed, the next what failed.
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = ": ".join(filter(None, [type(error).__name__, " ".join(lines[:2])[:400]]))
    if not wrappers:
        return said
    names = dict.fromkeys(type(each).__name__ for each in wrappers)
    ops = (_OP.search(str(each)) for each in reversed(wrappers))
    op = next((found[1] or found[2] for found in ops if found), None)
    return f"{said} (in {', '.join(names)}{f' of {op}' if op else ''})"
