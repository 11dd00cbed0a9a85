"""Keeps the threads out of a process that is to be forked."""

import os


def import_numpy():
    """Imports numpy, if there is one, without threads of OpenBLAS's. Call it before PyTorch does."""
    name = "OPENBLAS_NUM_THREADS"
    asked = os.environ.get(name)
    os.environ[name] = "1"
    try:
        import numpy  # noqa: F401
    except ImportError:
        pass
    # PyTorch's own BLAS may be OpenBLAS, too.
    if asked is None:
        del os.environ[name]
    else:
        os.environ[name] = asked
