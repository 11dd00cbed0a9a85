"""What Inductor finds out of a machine's C++ compiler, kept from process to process.

A campaign has a temporary folder of its own, in which Inductor would look for the machine's vector
units and precompile its headers again. Both are kept below the user's cache instead, apart for each
version of PyTorch and processor.

Inductor looks for vector units in every process that compiles for the CPU: ten small libraries, each
loaded by an interpreter that imports PyTorch. So a process takes longer for its first C++ kernel than
a judge waits on a machine that is busy. What was found is kept, too. And it looks for all units that a
processor has, where it uses the strongest: here the search ends with that.
"""

import contextlib
import functools
import hashlib
import os
import platform

import torch
from torch._inductor import codecache, cpu_vec_isa

from graphgate_adapter import variables


def _processor():
    """What tells processors with other instructions apart."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            kinds = {line for line in file if line.startswith(("flags", "Features", "model name"))}
    except OSError:
        kinds = {platform.processor()}
    return hashlib.sha256("".join(sorted(kinds)).encode()).hexdigest()[:16]


def folder():
    """Where it is kept; None where that cannot be written."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    path = os.path.join(cache, "graphgate", f"inductor-{torch.__version__}-{_processor()}")
    try:
        os.makedirs(path, exist_ok=True)
    except OSError:
        return None
    return path if os.access(path, os.W_OK) else None


def _cache_directory(path):
    """While it is entered, Inductor's cache is there."""
    return variables.set_for_a_while("TORCHINDUCTOR_CACHE_DIR", path)


def _name_of(unit, code):
    """What tells checks apart: the unit, the library's code, and what it is compiled with."""
    text = f"{unit}\n{code}\n{cpu_vec_isa._get_isa_dry_compile_fingerprint(unit._arch_flags)}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _keep_checks(path):
    """Has a vector unit that was found once taken for found. One that was not is looked for again:
    a machine may have been out of memory."""
    check = cpu_vec_isa.VecISA.check_build

    @functools.wraps(check)
    def check_build(self, code):
        _checked.add(str(self))
        note = os.path.join(path, "vector_units", _name_of(self, code))
        if os.path.exists(note):
            return True
        with _cache_directory(path):
            is_there = check(self, code)
        if is_there:
            with contextlib.suppress(OSError):
                os.makedirs(os.path.dirname(note), exist_ok=True)
                with open(note, "x", encoding="utf-8") as file:
                    file.write(f"{self}\n")
        return is_there

    cpu_vec_isa.VecISA.check_build = check_build


class _Whole:
    """What Inductor builds a header with, where a header counts that was written to its end. One whose
    compiler was killed as it wrote would end every later compiler: "cannot read PCH file"."""

    def __init__(self, builder):
        self._builder = builder
        self._mark = builder.get_target_file_path() + ".whole"

    def get_target_file_path(self):
        """Inductor builds it where this is missing."""
        return self._mark

    def build(self):
        self._builder.build()
        with open(self._mark, "w", encoding="ascii"):
            pass


def _keep_whole_headers():
    """Inductor asks and builds behind a lock, so nobody reads a header while it is written."""
    compile_all = codecache._worker_compile_cpp

    @functools.wraps(compile_all)
    def compile_whole(lock_path, builders):
        if os.path.dirname(lock_path) == codecache._HEADER_LOCK_DIR:
            builders = [_Whole(each) for each in builders]
        compile_all(lock_path, builders)

    codecache._worker_compile_cpp = compile_whole


_checked = set()  # units by name, that the processor has


class _UntilOneHolds(tuple):
    """Vector units, the strongest first, up to the first one that the compiler can be used for.

    One who goes through them asks each whether it holds, unless the processor lacks it."""

    def __iter__(self):
        for unit in super().__iter__():
            yield unit
            if str(unit) in _checked and unit:
                return


def use_kept(picks_vector_unit=False):
    """Has Inductor keep vector units and its precompiled headers in the folder. Kernels stay where
    they were. Does nothing where there is no such folder, or no such part of Inductor.

    `picks_vector_unit`: somebody asks for vectors of a length, which a weaker unit may have."""
    path = folder()
    if path is None:
        return
    if hasattr(codecache, "_HEADER_DIR"):
        codecache._HEADER_DIR = os.path.join(path, "headers")
        codecache._HEADER_LOCK_DIR = os.path.join(path, "headers", "locks")
        if not hasattr(codecache._worker_compile_cpp, "__wrapped__"):
            _keep_whole_headers()
    parts = ("VecISA", "_get_isa_dry_compile_fingerprint")
    if all(hasattr(cpu_vec_isa, part) for part in parts) and not _is_kept():
        _keep_checks(path)
        picks_vector_unit |= "ATEN_CPU_CAPABILITY" in os.environ
        if hasattr(cpu_vec_isa, "supported_vec_isa_list") and not picks_vector_unit:
            cpu_vec_isa.supported_vec_isa_list = _UntilOneHolds(cpu_vec_isa.supported_vec_isa_list)


def _is_kept():
    return hasattr(cpu_vec_isa.VecISA.check_build, "__wrapped__")


def find_vector_units():
    """Looks for them now, so that processes that are forked know them."""
    with contextlib.suppress(AttributeError, OSError):
        cpu_vec_isa.valid_vec_isa_list()
