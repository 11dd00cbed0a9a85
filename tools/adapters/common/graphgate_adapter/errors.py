"""What an error of PyTorch says, in one line that begins with the class of what went wrong.

Compilers are not imported to know their errors: where nobody has imported them, no error is theirs.
"""

import errno
import linecache
import os
import re
import sys
import traceback

import torch

import graphgate_adapter

_SHORTAGES = {errno.ENOSPC, errno.EDQUOT, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EROFS}
# What a C++ compiler says of a machine, and not of the code that it was given.
_LACKS = ("Python.h: No such file", "No space left on device", "Cannot allocate memory")

# What products in groups say of operands that do not lie as they want them.
_ALIGNMENT = ("strides should be multiple of 16 bytes", "expected data_ptr to be aligned to 16 bytes")

# What the checks of compiled extensions say, as vLLM's. PyTorch has folders of that name itself.
_EXTENSION_CHECK = re.compile(r"(?<!/torch)/csrc/|API call failed at ")

# Where errors that wrap others name the op that they are about.
_OP = re.compile(r"^\s*target: (\S+)$|with fake tensors: \w+ ([\w.]+)\(", re.MULTILINE)


def _is_of(error, package, *classes):
    """Whether the error is of one of these classes of the package's module `exc`."""
    module = sys.modules.get(f"torch.{package}.exc")
    return module is not None and isinstance(error, tuple(getattr(module, name) for name in classes))


def _of_dynamo(error, *classes):
    return _is_of(error, "_dynamo", *classes)


def _of_inductor(error, *classes):
    return _is_of(error, "_inductor", *classes)


def _inside(error):
    """What a compiler's error wraps. These two hide it: `raise ... from None`."""
    if not _of_dynamo(error, "TorchDynamoException") and not _of_inductor(error, "OperatorIssue"):
        return None
    inner = getattr(error, "inner_exception", None) or error.__cause__
    hides = _of_dynamo(error, "TorchRuntimeError") or _of_inductor(error, "LoweringException")
    if inner is None and hides:
        inner = error.__context__
    return inner


def innermost(error):
    """What the errors of compilers wrap, one within the other; the error itself where it wraps none."""
    while inner := _inside(error):
        error = inner
    return error


def _raised_in(error, function):
    frames = traceback.extract_tb(error.__traceback__)
    return bool(frames) and frames[-1].name == function


def _asked_of_ours(error):
    """Whether an engine asked one of an adapter's objects for what that has not."""
    owner = getattr(error, "obj", None) if isinstance(error, AttributeError) else None
    return graphgate_adapter.has_module(type(owner).__module__)


def raised_here(error):
    """The error behind it, or itself, that is of an adapter: whose last frame is, or the object that
    lacks an attribute; None without one."""
    seen = set()
    behind = [error]
    while behind:
        error = behind.pop()
        if error is None or id(error) in seen:
            continue
        seen.add(id(error))
        frames = traceback.extract_tb(error.__traceback__)
        if frames and graphgate_adapter.has_file(frames[-1].filename) or _asked_of_ours(error):
            return error
        behind += [error.__context__, error.__cause__, getattr(error, "inner_exception", None)]
    return None


def is_refusal(error):
    """Whether PyTorch says that it does not take a graph within the graph: Dynamo, since an arm of a
    conditional writes its operands, or what traces it, since operands or results share memory."""
    if _raised_in(innermost(error), "_check_alias_and_mutation"):
        return True
    while error and not _of_dynamo(error, "UncapturedHigherOrderOpError"):
        error = _inside(error)
    return error is not None


def _operands(error):
    """The tensors that stand in the line of a module's code, which fx wrote, that raised the error."""
    found = []
    for frame, line in traceback.walk_tb(error.__traceback__):
        if not frame.f_code.co_filename.startswith("<eval_with_key>"):
            continue
        text = linecache.getline(frame.f_code.co_filename, line, frame.f_globals)
        call = text.partition(";")[0].partition("=")[2]
        held = (frame.f_locals.get(name) for name in re.findall(r"\w+", call))
        found = [each for each in held if isinstance(each, torch.Tensor)]
    return found


def has_no_kernel_for_values(error):
    """Whether a kernel of PyTorch's says that it takes no operands like these, of which others may make something.

    LAPACK takes no infinity and no NaN: it says so, or that it does not converge. cuSOLVER says that
    it failed. binary_cross_entropy takes what lies between 0 and 1. Products in groups take operands
    alone whose rows lie on marks of 16 bytes, on every device, and whose data do, on CUDA. Kernels of an
    extension name the line that says so, in its sources or in PyTorch's interface for extensions.
    """
    words = str(error)
    if isinstance(error, RuntimeError) and "/pytorch/" not in words and _EXTENSION_CHECK.search(words):
        return True
    if isinstance(error, RuntimeError) and words.startswith(_ALIGNMENT):
        return True
    if "should be between 0 and 1" in words:
        return any(not ((each >= 0) & (each <= 1)).all() for each in _operands(error))
    is_solver = isinstance(error, torch.linalg.LinAlgError) and "failed to converge" in words
    is_solver = is_solver or "CUSOLVER_STATUS_EXECUTION_FAILED" in words
    if not is_solver and "should not contain infs or NaNs" not in words:
        return False
    operands = [each for each in _operands(error) if each.is_floating_point() or each.is_complex()]
    return any(not torch.isfinite(each).all() for each in operands)


def is_of_machine(error):
    """Whether the machine lacks what any compiler or program would need here."""
    error = innermost(error)
    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    if _of_inductor(error, "InvalidCxxCompiler"):
        return True
    if isinstance(error, OSError):
        return error.errno in _SHORTAGES
    return _of_inductor(error, "CppCompileError") and any(text in str(error) for text in _LACKS)


def of_adapter(error):
    """CLASS: TEXT and the place, in one line that names the adapter."""
    said = " ".join(f"{type(error).__name__}: {error}".split())[:400]
    frames = traceback.extract_tb(error.__traceback__)
    ours = [each for each in frames if graphgate_adapter.has_file(each.filename)]
    adapter, engine = graphgate_adapter.name_and_engine()
    place = f" ({os.path.basename(ours[-1].filename)}:{ours[-1].lineno})" if ours else ""
    return f"the adapter {adapter}, not {engine}: {said}{place}"


def _place_of(error):
    """Where an error without a text was raised: FILE:LINE, and that line of the source."""
    frames = traceback.extract_tb(error.__traceback__)
    if not frames:
        return ""
    last = frames[-1]
    _, found, file = last.filename.rpartition("/site-packages/")
    return f"{file if found else os.path.basename(last.filename)}:{last.lineno}: {last.line}".strip()


def words_of(error):
    """CLASS: TEXT of the innermost error, and in brackets what it was wrapped in, and for which op.

    Where an error has no text, as an assertion, the place that raised it and its line stand there.
    """
    wrappers = []
    while inner := _inside(error):
        wrappers.append(error)
        error = inner
    # Dynamo's first line says where it failed, the next what failed.
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = " ".join(lines[:2]) or _place_of(error)
    said = ": ".join(filter(None, [type(error).__name__, text[:400]]))
    if not wrappers:
        return said
    names = dict.fromkeys(type(each).__name__ for each in wrappers)
    ops = (_OP.search(str(each)) for each in reversed(wrappers))
    op = next((found[1] or found[2] for found in ops if found), None)
    return f"{said} (in {', '.join(names)}{f' of {op}' if op else ''})"
