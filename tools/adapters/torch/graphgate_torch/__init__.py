"""PyTorch as an executor for graphgate, and models for it (docs/torch.md)."""

import os
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__))


def _find_shared():
    """Has graphgate_adapter found where only this package's folder is named (PYTHONPATH): it lies in
    the folder `common` beside that one."""
    own = os.path.dirname(_FOLDER)
    common = os.path.join(os.path.dirname(own), "common")
    if os.path.isdir(common) and common not in sys.path:
        named = [os.path.abspath(each) for each in sys.path]
        sys.path.insert(named.index(own) + 1 if own in named else len(named), common)


_find_shared()

import graphgate_adapter  # noqa: E402

graphgate_adapter.register("graphgate_torch", "PyTorch", _FOLDER)


def record(folder, *, calls=3, decompose=False):
    """Returns a backend of torch.compile that stores each graph, while it runs as in eager mode.

        model = torch.compile(model, backend=graphgate_torch.record("folder"))

        with graphgate_torch.record("folder"):  # whatever is compiled inside, with any backend
            train()

    FOLDER/graphN_inference.pt2, or graphN_forward.pt2 and graphN_backward.pt2, are archives of the
    ATen graphs; a recording of the first `calls` calls of each lies beside it. `decompose`: to the ops
    of torch.export's core set. What cannot be stored is told in a line on standard error.
    """
    from graphgate_torch import capture

    return capture.Backend(folder, calls, decompose)
