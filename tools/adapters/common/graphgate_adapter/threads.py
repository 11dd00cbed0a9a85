"""Keeps the threads of OpenBLAS out of a process that is to be forked."""

import contextlib
import os


@contextlib.contextmanager
def without_openblas():
    """While it is entered, an OpenBLAS that is loaded starts no thread.

    Each package has its own. PyTorch's may be one, too, and is to have its threads: so PyTorch is
    imported outside.
    """
    name = "OPENBLAS_NUM_THREADS"
    asked = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if asked is None:
            del os.environ[name]
        else:
            os.environ[name] = asked


def import_numpy():
    """Imports numpy, if there is one, without threads. Call it before PyTorch does."""
    with without_openblas(), contextlib.suppress(ImportError):
        import numpy  # noqa: F401
