"""ExecuTorch as an executor for graphgate (docs/executorch_adapter.md)."""

import os
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__))


def _find_others():
    """Has graphgate_torch, which finds graphgate_adapter, found beside this package's folder."""
    own = os.path.dirname(_FOLDER)
    other = os.path.join(os.path.dirname(own), "torch")
    if os.path.isdir(other) and other not in sys.path:
        named = [os.path.abspath(each) for each in sys.path]
        sys.path.insert(named.index(own) + 1 if own in named else len(named), other)


_find_others()

import graphgate_torch  # noqa: E402, F401 (finds graphgate_adapter)
import graphgate_adapter  # noqa: E402

graphgate_adapter.register("graphgate_executorch", "ExecuTorch", _FOLDER)
