"""What Inductor finds out of a machine's C++ compiler, kept from process to process.

A campaign has a temporary folder of its own, in which Inductor would look for the machine's vector
units (ten small programs, each in an interpreter that imports PyTorch) and precompile its headers
again. Both are kept below the user's cache instead, apart for each version of PyTorch and processor.
"""

import contextlib
import hashlib
import os
import platform

import torch
from torch._inductor import codecache, cpu_vec_isa

_CACHE_DIRECTORY = "TORCHINDUCTOR_CACHE_DIR"


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


@contextlib.contextmanager
def _cache_directory(path):
    """While it is entered, Inductor's cache is there."""
    asked = os.environ.get(_CACHE_DIRECTORY)
    os.environ[_CACHE_DIRECTORY] = path
    try:
        yield
    finally:
        if asked is None:
            del os.environ[_CACHE_DIRECTORY]
        else:
            os.environ[_CACHE_DIRECTORY] = asked


def use_kept():
    """Has Inductor look for vector units, and keep its precompiled headers, in the folder. Kernels
    stay where they were. Does nothing where there is no such folder, or no such part of Inductor."""
    path = folder()
    if path is None:
        return
    if hasattr(codecache, "_HEADER_DIR"):
        codecache._HEADER_DIR = os.path.join(path, "precompiled_headers")
        codecache._HEADER_LOCK_DIR = os.path.join(path, "precompiled_headers", "locks")
    with contextlib.suppress(AttributeError, OSError), _cache_directory(path):
        cpu_vec_isa.valid_vec_isa_list()
