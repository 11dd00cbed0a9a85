"""The C++ kernels of one graph as one translation unit.

Inductor compiles each kernel by itself. Nearly all of a small one's time goes into what every
translation unit has: the templates of the header, and linking. Sources, flags and bindings are
Inductor's; each kernel has a namespace and a name of its own. What cannot be put together, and what
does not compile together, is compiled by Inductor as ever, each by itself.
"""

import contextlib
import importlib.util
import os
import re
import sys
import types

import torch
from torch._inductor import async_compile, codecache
from torch._inductor.exc import CppCompileError
from torch._inductor.utils import clear_on_fresh_cache

_INCLUDE = re.compile(r"^\s*#\s*include\b.*$", re.MULTILINE)
# Inductor's kernels: lines of the preprocessor, and one function.
_KERNEL = re.compile(r'\s*(#include[^\n]*\n\s*)+(static[^\n]*\n\s*)*extern "C"\s+void\s+kernel\(')
_DEFINES = ("#define", "#undef")


def _needs_vectors(source):
    """Whether Inductor gives the source the flags of vector units. Older versions give them to all."""
    resolve = getattr(codecache, "_resolve_needs_vec_isa", None)
    return resolve("cpu", source, None) if resolve else True


def _can_be_batched(source):
    return bool(_KERNEL.match(source)) and not any(word in source for word in _DEFINES)


def _bindings(argument_types, name):
    """As load_pybinding_async() makes them, for a kernel of this name."""
    cache = codecache.CppPythonBindingsCodeCache
    arguments = ", ".join(
        f"parse_arg<{each.replace('const ', '')}>(args, {n})"
        for n, each in enumerate(argument_types)
    )
    return cache.suffix_template.format(
        arg_len=len(argument_types),
        call_entry_func=cache.call_entry_function.format(arguments),
        entry_func=name,
        extra_parse_arg=cache.extra_parse_arg.format(array_len=-1),
    )


def _name(number):
    return f"kernel_{number}"


def joined(kernels):
    """One source of several, [(types of arguments, source)]."""
    parts = []
    includes = {}
    for number, (argument_types, source) in enumerate(kernels):
        name = _name(number)
        text = source + _bindings(argument_types, name).replace("#define PY_SSIZE_T_CLEAN", "")
        includes |= dict.fromkeys(line.strip() for line in _INCLUDE.findall(text))
        body = _INCLUDE.sub("", text)
        parts.append(
            f"#define kernel {name}\nnamespace graphgate_{number} {{\n{body}\n}}\n#undef kernel\n"
        )
    return "\n".join(["#define PY_SSIZE_T_CLEAN", *includes, *parts])


@clear_on_fresh_cache
class _Joined(codecache.CppPythonBindingsCodeCache):
    """Loads a library with several kernels: a module for each."""

    cache = {}
    cache_clear = staticmethod(cache.clear)

    @classmethod
    def _load_library_inner(cls, path, key):
        os.environ["_TORCHINDUCTOR_PYOBJECT_TENSOR_DATA_PTR"] = str(
            torch._C._dynamo.guards._torchinductor_pyobject_tensor_data_ptr
        )
        return types.SimpleNamespace(path=path, key=key)

    @classmethod
    def kernels(cls, library, count):
        out = []
        for number in range(count):
            name = _name(number)
            spec = importlib.util.spec_from_file_location(f"{library.key}.{name}", library.path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            out.append(getattr(module, name))
        return out


class _Future(codecache.LambdaFuture):
    """A kernel of a batch."""


class _Batch:
    """Kernels of one graph, compiled when the first of them is asked for."""

    def __init__(self):
        self._kernels = []
        self._loaded = None

    def add(self, argument_types, source):
        self._kernels.append((argument_types, source))
        return len(self._kernels) - 1

    def kernel(self, number):
        """The function; None where it is to be compiled by itself."""
        if self._loaded is None:
            self._loaded = self._load()
        return self._loaded[number] if number < len(self._loaded) else None

    def _load(self):
        if len(self._kernels) < 2:
            return []
        try:
            library = _Joined.load_async(joined(self._kernels))()
            return _Joined.kernels(library, len(self._kernels))
        except (CppCompileError, AttributeError, ImportError, KeyError, TypeError) as error:
            print(f"kernels are compiled one by one: {type(error).__name__}", file=sys.stderr)
            return []


def _cpp_pybinding(original, compiler, argument_types, source):
    if not _can_be_batched(source):
        return original(compiler, argument_types, source)
    batches = compiler.__dict__.setdefault("graphgate_batches", {})
    batch = batches.setdefault(_needs_vectors(source), _Batch())
    number = batch.add(argument_types, source)

    def load():
        kernel = batch.kernel(number)
        if kernel is None:
            kernel = original(compiler, argument_types, source)
        return kernel.result() if isinstance(kernel, codecache.CodeCacheFuture) else kernel

    return _Future(load)


@contextlib.contextmanager
def one_unit_a_graph():
    """While it is entered, Inductor compiles the C++ kernels of each graph together."""
    compilers = async_compile.AsyncCompile
    pybinding, wait = compilers.cpp_pybinding, compilers.wait

    def cpp_pybinding(compiler, argument_types, source):
        return _cpp_pybinding(pybinding, compiler, argument_types, source)

    def wait_for_all(compiler, scope):
        # Inductor itself waits only where it compiles in threads.
        for name, value in list(scope.items()):
            if isinstance(value, _Future):
                scope[name] = value.result()
        return wait(compiler, scope)

    compilers.cpp_pybinding, compilers.wait = cpp_pybinding, wait_for_all
    try:
        yield
    finally:
        compilers.cpp_pybinding, compilers.wait = pybinding, wait
