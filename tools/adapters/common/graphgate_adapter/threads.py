"""Keeps threads of libraries out of a process that is to be forked."""

import contextlib
import importlib

from graphgate_adapter import variables


def without_openblas():
    """While it is entered, an OpenBLAS that is loaded starts no thread.

    Each package has its own. PyTorch's may be one, too, and is to have its threads: so PyTorch is
    imported outside.
    """
    return variables.set_for_a_while("OPENBLAS_NUM_THREADS", "1")


def import_numpy():
    """Imports numpy, if there is one, without threads. Call it before PyTorch does."""
    with without_openblas(), contextlib.suppress(ImportError):
        import numpy  # noqa: F401


def without_bars():
    """Has the bars of tqdm, if it is there, start no thread that looks at them. PyTorch draws one where it
    exports a program, and vLLM others."""
    with contextlib.suppress(ImportError):
        importlib.import_module("tqdm").tqdm.monitor_interval = 0
